# SPDX-License-Identifier: Apache-2.0
#
# Compiles the reporter into tt_metal and links libttmem. integrate.py includes this file after add_library(tt_metal).
#
# libttmem is found by pkg-config, in the system's folders, or in TTMEM_ROOT: the prefix of an installed ttmem.

set(TTMEM_ROOT "" CACHE PATH "Prefix of an installed ttmem; empty: pkg-config and the system's folders")

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND AND NOT TTMEM_ROOT)
    pkg_check_modules(TTMEM_PC QUIET ttmem)
endif()
find_path(TTMEM_INCLUDE_DIR ttmem/ttmem.h HINTS "${TTMEM_ROOT}/include" ${TTMEM_PC_INCLUDE_DIRS})
find_library(TTMEM_LIBRARY ttmem HINTS "${TTMEM_ROOT}/lib" ${TTMEM_PC_LIBRARY_DIRS}
    PATH_SUFFIXES "${CMAKE_LIBRARY_ARCHITECTURE}")
if(NOT TTMEM_INCLUDE_DIR OR NOT TTMEM_LIBRARY)
    message(FATAL_ERROR "ttmem: the header ttmem/ttmem.h or the library libttmem is missing. Install ttmem, "
        "set TTMEM_ROOT to the prefix of an installed one, or undo the insertion with 'integrate.py remove'.")
endif()

set(ttmem_sources ttmem_buffers.cpp ttmem_devices.cpp ttmem_programs.cpp ttmem_reporter.cpp)
list(TRANSFORM ttmem_sources PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
target_sources(tt_metal PRIVATE ${ttmem_sources})
set_source_files_properties(${ttmem_sources} PROPERTIES
    INCLUDE_DIRECTORIES "${TTMEM_INCLUDE_DIR}" SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
target_link_libraries(tt_metal PRIVATE "${TTMEM_LIBRARY}")
