# SPDX-License-Identifier: MIT
# What an installation holds beside the plugins: headers, documents, the program with its manual pages
# and its completion, and what finds them: find_package(peat) and peat.pc. All paths in them are
# relative to themselves, so that an installed tree can be moved.

include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/peat DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
# Documents lie as in the sources, so that links between them hold; large archives of runs stay out.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/LICENSE
  ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/experiments DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING REGEX "\\.(md|svg|csv|yaml|txt|py|sh)$" PATTERN "quickstart.tar.xz")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/plugins DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.md" PATTERN template EXCLUDE)
if(TARGET peat)
  install(TARGETS peat RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

  # Manual pages are made from the program's help.
  find_program(PEAT_PYTHON3 python3)
  if(PEAT_PYTHON3)
    set(man_dir ${PROJECT_BINARY_DIR}/man/man1)
    set(reference ${PROJECT_SOURCE_DIR}/docs/reference.py)
    add_custom_command(OUTPUT ${man_dir}/peat.1 COMMAND ${CMAKE_COMMAND} -E rm -rf ${man_dir}
      COMMAND ${PEAT_PYTHON3} ${reference} man ${man_dir} $<TARGET_FILE:peat> DEPENDS peat ${reference} VERBATIM)
    add_custom_target(manual ALL DEPENDS ${man_dir}/peat.1)
    install(DIRECTORY ${man_dir}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  else()
    message(STATUS "python3 was not found: no manual pages are made")
  endif()
  foreach(shell bash-completion/completions/peat zsh/site-functions/_peat
      fish/vendor_completions.d/peat.fish)
    string(REGEX MATCH "^[a-z]+" name ${shell})
    get_filename_component(folder ${shell} DIRECTORY)
    get_filename_component(file ${shell} NAME)
    install(FILES ${PROJECT_SOURCE_DIR}/core/cli/completion.${name}
      DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} RENAME ${file})
  endforeach()
endif()

# Where the program of the build tree finds the headers for `peat plugins build`.
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_INCLUDEDIR} SYMBOLIC)
endif()

# The package of Python, and where the program of the build tree finds it.
if(NOT IS_ABSOLUTE ${PEAT_PYTHON_DIR})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${PEAT_PYTHON_DIR})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/peat ${PROJECT_BINARY_DIR}/${PEAT_PYTHON_DIR}/peat SYMBOLIC)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/peat DESTINATION ${PEAT_PYTHON_DIR}
  FILES_MATCHING REGEX "/[^/]*\\.(py|html|css|js)$" PATTERN plugins EXCLUDE)
# Formulas for where no program is found, as in a wheel.
foreach(kind scheme combine)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/plugins/${kind} DESTINATION ${PEAT_PYTHON_DIR}/peat/plugins
    FILES_MATCHING PATTERN "formula*.py")
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/python/results.ipynb DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/peat)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/peatConfig.cmake.in ${PROJECT_BINARY_DIR}/peatConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR PEAT_PLUGIN_DIR
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Plugins ask for the version of the ABI.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/peatConfigVersion.cmake
  VERSION ${PEAT_ABI} COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/peatConfig.cmake ${PROJECT_BINARY_DIR}/peatConfigVersion.cmake
  DESTINATION ${package_dir})

# pkg-config knows where its file is, and nothing else: the way up to the prefix is counted here.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(PEAT_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(PEAT_PC_PLUGIN_DIR ${PEAT_PLUGIN_DIR})
else()
  file(RELATIVE_PATH up /prefix/${pkgconfig_dir} /prefix)
  string(REGEX REPLACE "/$" "" up ${up})
  set(PEAT_PC_PREFIX "\${pcfiledir}/${up}")
  set(PEAT_PC_PLUGIN_DIR "\${prefix}/${PEAT_PLUGIN_DIR}")
endif()
if(IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(PEAT_PC_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR})
else()
  set(PEAT_PC_INCLUDE_DIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
if(IS_ABSOLUTE ${CMAKE_INSTALL_BINDIR})
  set(PEAT_PC_BIN_DIR ${CMAKE_INSTALL_BINDIR})
else()
  set(PEAT_PC_BIN_DIR "\${prefix}/${CMAKE_INSTALL_BINDIR}")
endif()
if(IS_ABSOLUTE ${PEAT_PYTHON_DIR})
  set(PEAT_PC_PYTHON_DIR ${PEAT_PYTHON_DIR})
else()
  set(PEAT_PC_PYTHON_DIR "\${prefix}/${PEAT_PYTHON_DIR}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/peat.pc.in ${PROJECT_BINARY_DIR}/peat.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/peat.pc DESTINATION ${pkgconfig_dir})

# What the last `cmake --install` put somewhere goes again.
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
  -P ${PROJECT_SOURCE_DIR}/cmake/Uninstall.cmake VERBATIM)
