# SPDX-License-Identifier: Apache-2.0
#
# The functions with which each folder describes its targets:
#
#   ttmem_library(<name> a.cpp ... [USES other ...])          static library ttmem_<name>; without sources: headers only
#   ttmem_program(<name> a.cpp ... [LIBS lib ...])            executable in bin/, installed, part of the target 'programs'
#   ttmem_test(<name> a_test.cpp ... [LIBS lib ...] [LABELS label ...] [RESOURCE_LOCK host] [TIMEOUT seconds]
#              [DEPENDS target ...] [OWN_MAIN] [ONE_THREAD] [WITHOUT_SANITIZER])
#       ONE_THREAD: the test has one thread, so ThreadSanitizer does not run it
#       WITHOUT_SANITIZER: some of it is only checked without a sanitizer (see "sanitized" below)
#   ttmem_test_program(<name> a.cpp ... [LIBS lib ...])       a program that a test runs
#   ttmem_script_test(<name> COMMAND command ... [LABELS label ...] [RESOURCE_LOCK host] [TIMEOUT seconds])
#       a test that is not a GoogleTest; exit code 77 means skipped
#   ttmem_long_test(<name> <test> <environment ...>)          a GoogleTest program once more, with more work
#   ttmem_bench(<name> a_bench.cpp ... [LIBS lib ...])
#   ttmem_fuzzer(<name> a_fuzz.cpp ... [LIBS lib ...] [CORPUS folder] [RUNS count])
#
# USES and LIBS take the name of a folder ("segment", "sources/segments"), of a package in the table below ("fmt"), or any
# other CMake target. Labels: fast (the default), crash, stress, e2e, attack, fuzz, lint, and long, which only './dev test long'
# runs. A fast test also has the label sanitized, unless it has WITHOUT_SANITIZER: the stage asan checks all of it, so the whole
# './dev test' neither builds nor runs it in the stage dev.

# One line per package: name, find_package name, target. CMake searches for a package when a target first uses it.
set(TTMEM_PACKAGES
    "benchmark|benchmark|benchmark::benchmark"
    "benchmark_main|benchmark|benchmark::benchmark_main"
    "boost|Boost|Boost::headers"
    "cli11|CLI11|CLI11::CLI11"
    "expected|tl-expected|tl::expected"
    "fmt|fmt|fmt::fmt-header-only"
    "gmock|GTest|GTest::gmock"
    "gmock_main|GTest|GTest::gmock_main"
    "gtest|GTest|GTest::gtest"
    "json|nlohmann_json|nlohmann_json::nlohmann_json"
    "rapidcheck|rapidcheck|rapidcheck"
    "threads|Threads|Threads::Threads")

# Sets <result> to the CMake targets for the given names.
function(ttmem_resolve_libraries result)
    set(targets)
    foreach(name IN LISTS ARGN)
        set(target)
        foreach(line IN LISTS TTMEM_PACKAGES)
            string(REPLACE "|" ";" fields "${line}")
            list(GET fields 0 alias)
            list(GET fields 1 package)
            list(GET fields 2 package_target)
            if(name STREQUAL alias OR name STREQUAL package OR name STREQUAL package_target)
                if(NOT TARGET ${package_target})
                    find_package(${package} REQUIRED)
                endif()
                set(target ${package_target})
                break()
            endif()
        endforeach()
        if(NOT target)
            if(name MATCHES "::|^-|^ttmem_" OR TARGET ${name})
                set(target ${name})
            else()
                string(REPLACE "/" "_" target "ttmem_${name}")
            endif()
        endif()
        list(APPEND targets ${target})
    endforeach()
    set(${result} ${targets} PARENT_SCOPE)
endfunction()

# The include roots of every target.
function(ttmem_include_roots target scope)
    target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include"
                               "${PROJECT_SOURCE_DIR}")
endfunction()

# Most of the compile time goes into headers, so the presets compile up to 12 files of a target as one. 'alone' does not.
function(ttmem_compile_together target)
    if(TTMEM_UNITY_BUILD)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    endif()
endfunction()

function(ttmem_library name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "USES")
    string(REPLACE "/" "_" target "ttmem_${name}")
    ttmem_resolve_libraries(uses ${ARG_USES})
    set(sources ${ARG_UNPARSED_ARGUMENTS})
    list(FILTER sources EXCLUDE REGEX "\\.(h|hpp)$")
    if(sources)
        add_library(${target} STATIC ${ARG_UNPARSED_ARGUMENTS})
        # Internal archives stay in the build folder.
        set_target_properties(${target} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
        ttmem_include_roots(${target} PUBLIC)
        target_link_libraries(${target} PUBLIC ${uses})
        ttmem_compile_together(${target})
    else()
        add_library(${target} INTERFACE)
        ttmem_include_roots(${target} INTERFACE)
        target_link_libraries(${target} INTERFACE ${uses})
    endif()
endfunction()

# A program needs libc and libgcc_s of its host and nothing else, so that one build runs on every host (docs/DEPLOY.md). The
# unused parts of the C++ runtime are left out, because some need a newer libc than the rest: std::random_device, for example.
# A sanitizer needs the shared C++ runtime.
function(ttmem_link_cxx_runtime target)
    if(NOT TTMEM_SANITIZE)
        target_link_options(${target} PRIVATE -static-libstdc++ -Wl,--gc-sections)
    endif()
endfunction()

# What './dev run' builds.
add_custom_target(programs)
function(ttmem_program name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LIBS")
    ttmem_resolve_libraries(libs ${ARG_LIBS})
    add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
    ttmem_include_roots(${name} PRIVATE)
    target_link_libraries(${name} PRIVATE ${libs})
    ttmem_compile_together(${name})
    ttmem_link_cxx_runtime(${name})
    install(TARGETS ${name} RUNTIME)
    add_dependencies(programs ${name})
endfunction()

# Tests and the programs that they run stay out of bin/. The definitions tell them where everything is.
function(ttmem_test_settings target)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/test-bin")
    ttmem_include_roots(${target} PRIVATE)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_compile_definitions(${target} PRIVATE
        TTMEM_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
        TTMEM_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
        TTMEM_LIB_DIR="${CMAKE_LIBRARY_OUTPUT_DIRECTORY}"
        TTMEM_TEST_BIN_DIR="${CMAKE_BINARY_DIR}/test-bin"
        TTMEM_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
endfunction()

# Everything that 'ctest' needs. The sanitizer presets build only this.
if(TTMEM_BUILD_TESTS)
    add_custom_target(ttmem_tests)
endif()

# A library that tests and benchmarks use, and no program.
function(ttmem_only_for_tests target)
    if(NOT TTMEM_BUILD_TESTS)
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
endfunction()

# Name the program in the test's DEPENDS.
function(ttmem_test_program name)
    if(NOT TTMEM_BUILD_TESTS)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LIBS")
    ttmem_resolve_libraries(libs ${ARG_LIBS})
    add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
    ttmem_test_settings(${name})
    target_link_libraries(${name} PRIVATE ${libs})
    add_dependencies(ttmem_tests ${name})
endfunction()

# Tests are not optimised, because compiling them takes most of a test run. The code under test has the preset's options.
set(TTMEM_TEST_OPTIONS -O0 -g1)

# Half of compiling a test is parsing GoogleTest's headers. They are precompiled once, by an otherwise empty program.
function(ttmem_read_test_headers_once)
    add_executable(ttmem_test_headers "${PROJECT_SOURCE_DIR}/tests/support/test_headers.cpp")
    ttmem_test_settings(ttmem_test_headers)
    target_compile_options(ttmem_test_headers PRIVATE ${TTMEM_TEST_OPTIONS})
    ttmem_resolve_libraries(libs gmock gtest)
    target_link_libraries(ttmem_test_headers PRIVATE ${libs})
    target_precompile_headers(ttmem_test_headers PRIVATE
        <gmock/gmock.h> <gtest/gtest.h>
        <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <filesystem> <fstream> <functional> <map> <memory>
        <optional> <set> <sstream> <string> <string_view> <thread> <utility> <vector>)
endfunction()

# The target 'all' does not contain a test with the label sanitized; 'ttmem_tests' does. Each build folder lists these tests,
# and the stage asan fails if the list of dev has one that it does not run.
file(WRITE "${CMAKE_BINARY_DIR}/sanitized-tests.txt" "")
function(ttmem_mark_sanitized name)
    foreach(source IN LISTS ARGN)
        file(STRINGS "${source}" differences REGEX "_SANITIZE(_ADDRESS__|D\\))" LIMIT_COUNT 1)
        if(differences)
            message(FATAL_ERROR "ttmem_test(${name}): ${source} checks more without a sanitizer, so the test needs "
                                "WITHOUT_SANITIZER")
        endif()
    endforeach()
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    file(APPEND "${CMAKE_BINARY_DIR}/sanitized-tests.txt" "${name}\n")
endfunction()

# Each TEST becomes a ctest named <name>/<Suite>.<Test>. Tests that read the state of the whole host share a RESOURCE_LOCK, so
# that they do not run at the same time.
function(ttmem_test name)
    if(NOT TTMEM_BUILD_TESTS)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 ARG "OWN_MAIN;ONE_THREAD;WITHOUT_SANITIZER" "TIMEOUT"
                          "LIBS;LABELS;RESOURCE_LOCK;DEPENDS")
    if(NOT ARG_LABELS)
        set(ARG_LABELS fast)
    endif()
    # Do not build what no sanitizer stage runs.
    if(TTMEM_SANITIZE AND (ARG_LABELS MATCHES "crash|e2e" OR (ARG_ONE_THREAD AND TTMEM_SANITIZE STREQUAL "thread")))
        return()
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 300)
    endif()
    if(ARG_OWN_MAIN)
        ttmem_resolve_libraries(libs ${ARG_LIBS} gmock gtest)
    else()
        ttmem_resolve_libraries(libs ${ARG_LIBS} gmock_main gmock gtest)
    endif()

    add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
    if(ARG_LABELS STREQUAL "fast" AND NOT ARG_WITHOUT_SANITIZER)
        ttmem_mark_sanitized(${name} ${ARG_UNPARSED_ARGUMENTS})
        list(APPEND ARG_LABELS sanitized)
    endif()
    ttmem_test_settings(${name})
    target_compile_options(${name} PRIVATE ${TTMEM_TEST_OPTIONS})
    target_link_libraries(${name} PRIVATE ${libs})
    if(NOT TARGET ttmem_test_headers)
        ttmem_read_test_headers_once()
    endif()
    target_precompile_headers(${name} REUSE_FROM ttmem_test_headers)
    ttmem_compile_together(${name})
    add_dependencies(ttmem_tests ${name})
    if(ARG_DEPENDS)
        add_dependencies(${name} ${ARG_DEPENDS})
    endif()

    include(GoogleTest)
    gtest_discover_tests(${name} TEST_PREFIX "${name}/" NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST
        DISCOVERY_TIMEOUT 120)

    # The discovery cannot pass on a property that is a list (two labels), so ctest reads this file afterwards. A test that
    # was not built gets the same labels, so that it fails and is not left out.
    set(properties "LABELS \"${ARG_LABELS}\" TIMEOUT ${ARG_TIMEOUT}")
    if(ARG_RESOURCE_LOCK)
        string(APPEND properties " RESOURCE_LOCK \"${ARG_RESOURCE_LOCK}\"")
    endif()
    set(properties_file "${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake")
    file(CONFIGURE OUTPUT "${properties_file}" @ONLY CONTENT [[
if(DEFINED @name@_TESTS)
    set_tests_properties(${@name@_TESTS} PROPERTIES @properties@)
else()
    set_tests_properties(@name@_NOT_BUILT PROPERTIES @properties@)
endif()
]])
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${properties_file}")
endfunction()

function(ttmem_script_test name)
    if(NOT TTMEM_BUILD_TESTS)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TIMEOUT" "COMMAND;LABELS;RESOURCE_LOCK")
    if(NOT ARG_LABELS)
        set(ARG_LABELS fast)
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 300)
    endif()
    add_test(NAME ${name} COMMAND ${ARG_COMMAND})
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77)
    # Tests that share a lock run one after another, so ctest must start them first.
    if(ARG_RESOURCE_LOCK)
        set_tests_properties(${name} PROPERTIES RESOURCE_LOCK "${ARG_RESOURCE_LOCK}" COST 1000)
    endif()
endfunction()

# The test program runs as a whole, with the given environment variables ("NAME=value") for more rounds or another seed.
function(ttmem_long_test name test)
    if(TARGET ${test} AND NOT TTMEM_SANITIZE)
        add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E env ${ARGN} $<TARGET_FILE:${test}>)
        set_tests_properties(${name} PROPERTIES LABELS long TIMEOUT 7200)
    endif()
endfunction()

# Benchmarks go to <build>/benchmarks/. Only the release preset gives valid figures; the dev preset compiles them to keep
# them working.
if(TTMEM_BUILD_BENCHMARKS)
    add_custom_target(benchmarks)
endif()
function(ttmem_bench name)
    if(NOT TTMEM_BUILD_BENCHMARKS)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LIBS")
    ttmem_resolve_libraries(libs ${ARG_LIBS} benchmark_main benchmark threads)
    add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/benchmarks")
    if(NOT TTMEM_BENCHMARKS_IN_ALL)
        set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    ttmem_include_roots(${name} PRIVATE)
    target_link_libraries(${name} PRIVATE ${libs})
    add_dependencies(benchmarks ${name})
endfunction()

# A fuzzer source defines LLVMFuzzerTestOneInput. The fuzz preset runs it with libFuzzer (target: fuzzers). Every other preset
# replays the corpus, so that each compiler and sanitizer still finds what was found once.
if(TTMEM_FUZZ)
    add_custom_target(fuzzers)
endif()
function(ttmem_fuzzer name)
    if(NOT TTMEM_BUILD_TESTS AND NOT TTMEM_FUZZ)
        return()
    endif()
    if(TTMEM_SANITIZE STREQUAL "thread")
        return()  # a fuzzer has one thread
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "CORPUS;RUNS" "LIBS")
    ttmem_resolve_libraries(libs ${ARG_LIBS})
    set(corpus)
    if(ARG_CORPUS)
        cmake_path(ABSOLUTE_PATH ARG_CORPUS BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE corpus)
        if(NOT IS_DIRECTORY "${corpus}")
            message(FATAL_ERROR "ttmem_fuzzer(${name}): the corpus folder ${corpus} is missing")
        endif()
    endif()
    if(NOT ARG_RUNS)
        set(ARG_RUNS ${TTMEM_FUZZ_RUNS})
    endif()

    add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
    ttmem_test_settings(${name})
    target_link_libraries(${name} PRIVATE ${libs})
    if(TTMEM_FUZZ)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        add_dependencies(fuzzers ${name})
        # New inputs go to the build folder, never into the corpus of the repository. The number of runs limits it; the time
        # is for slow machines.
        set(scratch "${CMAKE_CURRENT_BINARY_DIR}/${name}-found")
        file(MAKE_DIRECTORY "${scratch}")
        add_test(NAME ${name}/bounded_run
            COMMAND ${name} -seed=1 -runs=${ARG_RUNS} -max_total_time=120 -timeout=20 -print_final_stats=1
                    -artifact_prefix=${scratch}/ "${scratch}" ${corpus})
        set_tests_properties(${name}/bounded_run PROPERTIES LABELS fuzz TIMEOUT 600)
        add_test(NAME long/${name}
            COMMAND ${name} -max_total_time=1200 -timeout=20 -print_final_stats=1
                    -artifact_prefix=${scratch}/ "${scratch}" ${corpus})
        set_tests_properties(long/${name} PROPERTIES LABELS long TIMEOUT 1800)
        if(corpus)
            add_test(NAME ${name}/corpus COMMAND ${name} -runs=0 -artifact_prefix=${scratch}/ ${corpus})
            set_tests_properties(${name}/corpus PROPERTIES LABELS fuzz TIMEOUT 300)
        endif()
    else()
        target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/fuzz_replay_main.cpp")
        ttmem_mark_sanitized(${name})
        add_dependencies(ttmem_tests ${name})
        if(corpus)
            add_test(NAME ${name}/corpus COMMAND ${name} "${corpus}")
            set_tests_properties(${name}/corpus PROPERTIES LABELS "fast;fuzz;sanitized" TIMEOUT 300)
        endif()
    endif()
endfunction()
