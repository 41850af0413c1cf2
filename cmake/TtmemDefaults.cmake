# SPDX-License-Identifier: Apache-2.0
#
# Rules that hold for every target: language, warnings, sanitizers, where results go, how they find each other.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# What a library exports is named one by one.
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# Programs run in place and after an install alike (ttmem_program): they look for libraries in ../lib.
if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
endif()
if(NOT CMAKE_LIBRARY_OUTPUT_DIRECTORY)
    set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
endif()
if(NOT CMAKE_ARCHIVE_OUTPUT_DIRECTORY)
    set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
endif()

# A package found in one folder serves all, so that a folder can ask for it when it first needs it.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(Threads REQUIRED)

# ccache shortens a rebuild where it is installed; nothing depends on it.
find_program(TTMEM_CCACHE ccache)
if(TTMEM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # What it wants to be told before it takes a file that uses a precompiled header.
    set(launcher "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${TTMEM_CCACHE}")
    set(CMAKE_C_COMPILER_LAUNCHER "${launcher}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}")
endif()

# g++ alone looks for old-style casts: unlike clang it knows that the inline functions of a C header can't do without.
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
    # The check of virtual tables opens descriptors of its own, and takes objects for broken where a test has left none.
    add_compile_options(-fno-sanitize=vptr)
    # The checks that a sanitizer weaves in make g++ take initialised variables of the standard library for others.
    add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
    # Nor can g++ follow fences with the thread sanitizer. Those of Asio are beside its locks, which it can follow.
    if(TTMEM_SANITIZE MATCHES thread)
        add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
    endif()
endif()
if(TTMEM_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "TTMEM_FUZZ needs libFuzzer, and ${CMAKE_CXX_COMPILER} is not clang "
                            "(use 'cmake --preset fuzz')")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
