# SPDX-License-Identifier: MIT
# peat_add_provider(NAME SOURCE [LIBRARIES library...] [INCLUDES dir...] [RPATH dir]): a provider of
# matrix products, beside the plugins in the folder gemm. It exports peat_gemm_entry alone.
function(peat_add_provider name source)
  cmake_parse_arguments(of "" "RPATH" "LIBRARIES;INCLUDES" ${ARGN})
  add_library(gemm-${name} MODULE ${source})
  target_link_libraries(gemm-${name} PRIVATE peat_flags ${of_LIBRARIES})
  target_include_directories(gemm-${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(gemm-${name} SYSTEM PRIVATE ${of_INCLUDES})
  if(NOT PEAT_SANITIZE)
    target_link_options(gemm-${name} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(gemm-${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} BUILD_RPATH "${of_RPATH}" INSTALL_RPATH "${of_RPATH}"
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/peat/plugins-${PEAT_ABI}/gemm)
  install(TARGETS gemm-${name} LIBRARY DESTINATION ${PEAT_PLUGIN_DIR}/gemm)
  add_dependencies(providers gemm-${name})
  message(STATUS "Provider of matrix products: ${name}")
endfunction()
