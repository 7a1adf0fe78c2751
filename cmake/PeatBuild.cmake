# SPDX-License-Identifier: MIT
# How everything is compiled: C11, hidden symbols, strict warnings, optional sanitizers.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

option(PEAT_WERROR "Treat warnings as errors" OFF)
option(PEAT_VECTOR_LEVELS "Compile row functions for x86-64-v3 and v4 too" ON)
set(PEAT_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g -fno-omit-frame-pointer -DPEAT_DEBUG=1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1 -fno-omit-frame-pointer -DPEAT_DEBUG=1")

add_library(peat_flags INTERFACE)
target_compile_definitions(peat_flags INTERFACE _GNU_SOURCE)
target_compile_options(peat_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion -Wstrict-prototypes -Wmissing-prototypes
  -Wvla -Wpointer-arith -Wno-missing-field-initializers
  # -ffp-contract=off: contraction would change bits between compilers; never -ffast-math.
  # -fno-trapping-math: no code reads floating-point exceptions, and gcc turns choices into vectors only without them.
  -fno-math-errno -fno-trapping-math -ffp-contract=off -fstack-protector-strong)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  # VEC_APART of tensor/levels.h allows vectors, also where calls of libm leave no room for them.
  # INFINITY is a float, and clang warns of it where a double gets it.
  # C11's only integer constants with a name are enumerators, and some divide doubles.
  target_compile_options(peat_flags INTERFACE -Wno-pass-failed -Wno-double-promotion
                                              -Wno-enum-float-conversion)
endif()
if(PEAT_WERROR)
  target_compile_options(peat_flags INTERFACE -Werror)
endif()
if(PEAT_SANITIZE)
  target_compile_options(peat_flags INTERFACE -fsanitize=${PEAT_SANITIZE} -fno-sanitize-recover=all
                                              -fno-omit-frame-pointer -g1)
  target_link_options(peat_flags INTERFACE -fsanitize=${PEAT_SANITIZE})
  target_compile_definitions(peat_flags INTERFACE PEAT_SANITIZED=1)
endif()
