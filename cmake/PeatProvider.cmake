# SPDX-License-Identifier: MIT
# peat_add_provider(KIND NAME SOURCE [LIBRARIES library...] [INCLUDES dir...] [RPATH dir]): an object
# that links to a library and is loaded where that is used. It stands beside the plugins, in the
# folder KIND, and exports one symbol.
function(peat_add_provider kind name source)
  cmake_parse_arguments(of "" "RPATH" "LIBRARIES;INCLUDES" ${ARGN})
  add_library(${kind}-${name} MODULE ${source})
  target_link_libraries(${kind}-${name} PRIVATE peat_flags ${of_LIBRARIES})
  target_include_directories(${kind}-${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(${kind}-${name} SYSTEM PRIVATE ${of_INCLUDES})
  if(NOT PEAT_SANITIZE)
    target_link_options(${kind}-${name} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${kind}-${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} BUILD_RPATH "${of_RPATH}" INSTALL_RPATH "${of_RPATH}"
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/peat/${PEAT_PLUGINS}/${kind})
  install(TARGETS ${kind}-${name} LIBRARY DESTINATION ${PEAT_PLUGIN_DIR}/${kind})
  add_dependencies(providers ${kind}-${name})
  message(STATUS "Provider: ${kind}/${name}")
endfunction()
