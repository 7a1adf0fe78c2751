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
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${kind}/${name}/formula.py)
    peat_add_formula(${kind} ${kind}/${name}/formula.py ${name}.py)
  endif()
endfunction()

# peat_add_formula(KIND FILE NAME): a file of Python beside the plugins of a kind, under this name.
function(peat_add_formula kind file name)
  set(folder ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/peat/${PEAT_PLUGINS}/${kind})
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${folder}/${name} SYMBOLIC)
  install(FILES ${file} DESTINATION ${PEAT_PLUGIN_DIR}/${kind} RENAME ${name})
endfunction()
