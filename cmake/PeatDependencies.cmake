# SPDX-License-Identifier: MIT
# What PEAT is built on. Everything here is a Debian package; `./quickstart` installs them.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(NETTLE REQUIRED IMPORTED_TARGET nettle)
pkg_check_modules(CHECK IMPORTED_TARGET check)

# The runtime that OpenBLAS and oneDNN use, whatever the compiler's own is: core/tensor/parallel.c.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES gomp)
check_c_source_compiles("void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);
  int main(void) { GOMP_parallel(0, 0, 1, 0); return 0; }" PEAT_HAS_LIBGOMP)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT PEAT_HAS_LIBGOMP)
  message(FATAL_ERROR "libgomp, GCC's OpenMP runtime, was not found (Debian: gcc)")
endif()

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h)
if(NOT RANDOM123_INCLUDE_DIR)
  message(FATAL_ERROR "Random123 was not found (Debian: librandom123-dev)")
endif()

# ---- what providers of matrix products link to; the program itself links to none of it ----

# The OpenMP build of OpenBLAS shares its soname with the pthread build, which gains nothing from
# a second core here: name its own directory first, and give the provider an RPATH to it (see
# providers/CMakeLists.txt). The provider checks at run time that the right one was loaded.
find_library(OPENBLAS_LIBRARY NAMES openblas
  PATH_SUFFIXES openblas-openmp ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp /usr/lib/openblas-openmp
  NO_DEFAULT_PATH)
find_library(OPENBLAS_LIBRARY NAMES openblas)
if(NOT OPENBLAS_LIBRARY)
  message(FATAL_ERROR "the OpenMP build of OpenBLAS was not found (Debian: libopenblas-openmp-dev)")
endif()
find_path(OPENBLAS_INCLUDE_DIR cblas.h
  PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp /usr/include/openblas-openmp
  NO_DEFAULT_PATH)
find_path(OPENBLAS_INCLUDE_DIR cblas.h)
get_filename_component(OPENBLAS_DIR ${OPENBLAS_LIBRARY} DIRECTORY)

# Optional, and faster where it is there (docs/performance.md): `run.gemm: onednn`.
option(PEAT_WITH_ONEDNN "use oneDNN 2 or 3 for matrix products where it is installed" ON)
set(PEAT_HAS_ONEDNN OFF)
if(PEAT_WITH_ONEDNN)
  find_path(ONEDNN_INCLUDE_DIR dnnl.h)
  find_library(ONEDNN_LIBRARY NAMES dnnl)
  if(ONEDNN_INCLUDE_DIR AND ONEDNN_LIBRARY)
    # By a function of each, since a library may stand beside headers of another version.
    set(CMAKE_REQUIRED_INCLUDES ${ONEDNN_INCLUDE_DIR})
    set(CMAKE_REQUIRED_LIBRARIES ${ONEDNN_LIBRARY})
    set(called_2 "dnnl_matmul_desc_init(0, 0, 0, 0, 0)")
    set(called_3 "dnnl_matmul_primitive_desc_create(0, 0, 0, 0, 0, 0, 0)")
    foreach(version 2 3)
      check_c_source_compiles("#include <dnnl.h>
        int main(void) { return ${called_${version}} == dnnl_success; }"
        ONEDNN_IS_VERSION_${version})
      if(ONEDNN_IS_VERSION_${version})
        set(PEAT_HAS_ONEDNN ON)
        set(PEAT_ONEDNN_INTERFACE ${version})
      endif()
    endforeach()
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
    if(NOT PEAT_HAS_ONEDNN)
      set(PEAT_NO_ONEDNN "${ONEDNN_LIBRARY} is neither version 2 nor 3")
    endif()
  else()
    set(PEAT_NO_ONEDNN "dnnl.h and libdnnl were not found (Debian: libdnnl-dev)")
  endif()
else()
  set(PEAT_NO_ONEDNN "PEAT_WITH_ONEDNN is OFF")
endif()
