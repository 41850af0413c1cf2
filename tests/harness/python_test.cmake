# SPDX-License-Identifier: Apache-2.0
#
# ttmem_python_test(<name> <script.py> [arguments ...] [NOT_ISOLATED] [LABELS label ...] [RESOURCE_LOCK name] [TIMEOUT s])
#
# A test script that uses the package in tests/harness. It runs in its own pid namespace (tests/harness/isolate).
# RESOURCE_LOCK host keeps two tests that count what they see on the host apart.

if(TTMEM_BUILD_TESTS)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

set(TTMEM_HARNESS_DIR "${CMAKE_CURRENT_LIST_DIR}")

function(ttmem_python_test name script)
    cmake_parse_arguments(PARSE_ARGV 2 ARG "NOT_ISOLATED" "TIMEOUT" "LABELS;RESOURCE_LOCK")
    set(isolate "${TTMEM_HARNESS_DIR}/isolate")
    if(ARG_NOT_ISOLATED)
        set(isolate "")
    endif()
    if(NOT ARG_LABELS)
        set(ARG_LABELS e2e)
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 300)
    endif()
    get_filename_component(package_parent "${TTMEM_HARNESS_DIR}" DIRECTORY)
    ttmem_script_test(${name}
        COMMAND ${CMAKE_COMMAND} -E env
            "TTMEM_BUILD_DIR=${CMAKE_BINARY_DIR}" "TTMEM_CPACK=${CMAKE_CPACK_COMMAND}"
            "TTMEM_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" "TTMEM_LIB_DIR=${TTMEM_SCRIPT_LIB_DIR}"
            "PYTHONPATH=${package_parent}" PYTHONDONTWRITEBYTECODE=1 "TTMEM_SANITIZE=${TTMEM_SANITIZE}"
            ${isolate} ${Python3_EXECUTABLE} "${CMAKE_CURRENT_SOURCE_DIR}/${script}" ${ARG_UNPARSED_ARGUMENTS}
        LABELS ${ARG_LABELS}
        RESOURCE_LOCK ${ARG_RESOURCE_LOCK}
        TIMEOUT ${ARG_TIMEOUT})
endfunction()
