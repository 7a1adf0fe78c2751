# SPDX-License-Identifier: MIT
# peat_add_plugin(NAME KIND source...): a module with one exported symbol, linked to libc and libm
# alone; -z defs proves it.
function(peat_add_plugin name kind)
  add_library(${kind}-${name} MODULE ${ARGN})
  target_link_libraries(${kind}-${name} PRIVATE peat_flags m)
  target_include_directories(${kind}-${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  if(NOT PEAT_SANITIZE)
    # Two segments instead of four: `plugins list` opens every plugin, and each segment costs.
    target_link_options(${kind}-${name} PRIVATE -Wl,-z,defs -Wl,-z,noseparate-code)
  endif()
  set_target_properties(${kind}-${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/peat/${PEAT_PLUGINS}/${kind})
  install(TARGETS ${kind}-${name} LIBRARY DESTINATION ${PEAT_PLUGIN_DIR}/${kind})
endfunction()
