# SPDX-License-Identifier: Apache-2.0
#
# Rules for all targets: language, warnings, sanitizers, output folders.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Each exported symbol is marked by hand.
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# Programs find their libraries in ../lib, both in the build tree and installed (see ttmem_program).
if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
endif()
if(NOT CMAKE_LIBRARY_OUTPUT_DIRECTORY)
    set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
endif()
if(NOT CMAKE_ARCHIVE_OUTPUT_DIRECTORY)
    set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
endif()
# Where test scripts find libttmem.
set(TTMEM_SCRIPT_LIB_DIR "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
if(TTMEM_SANITIZE)
    set(TTMEM_SCRIPT_LIB_DIR "${CMAKE_BINARY_DIR}/lib-without-sanitizer")
endif()

# A package that one folder finds is visible in all.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(Threads REQUIRED)

# ccache is optional; it makes rebuilds faster.
find_program(TTMEM_CCACHE ccache)
if(TTMEM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Needed to cache files that use a precompiled header.
    set(launcher "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${TTMEM_CCACHE}")
    set(CMAKE_C_COMPILER_LAUNCHER "${launcher}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}")
endif()

# Old-style casts: only g++, because clang also warns about the inline functions of C headers.
add_compile_options(
    -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-align -Wcast-qual -Wformat=2
    -Wimplicit-fallthrough -Wundef -Wvla
    "$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Woverloaded-virtual;-Wextra-semi>"
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wold-style-cast;-Wduplicated-cond;-Wlogical-op;-Wsuggest-override>")
if(TTMEM_WERROR)
    add_compile_options(-Werror)
endif()

if(TTMEM_SANITIZE)
    add_compile_options(-fsanitize=${TTMEM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${TTMEM_SANITIZE})
    # The vptr check opens file descriptors, which disturbs tests that use all of them.
    add_compile_options(-fno-sanitize=vptr)
    # With sanitizers g++ reports variables of the standard library as uninitialised that are not.
    add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
    # g++ does not support fences with ThreadSanitizer. Asio's fences come besides locks, which it does support.
    if(TTMEM_SANITIZE MATCHES thread)
        add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
    endif()
endif()
if(TTMEM_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "TTMEM_FUZZ needs libFuzzer, but ${CMAKE_CXX_COMPILER} is not clang "
                            "(use 'cmake --preset fuzz')")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
