# SPDX-License-Identifier: MIT
# cmake -DMANIFEST=FILE -P Uninstall.cmake: removes the files that FILE lists, and the folders of PEAT
# that are empty then.

if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "nothing was installed from this build: there is no ${MANIFEST}")
endif()
file(STRINGS ${MANIFEST} files)
foreach(file IN LISTS files)
  file(REMOVE $ENV{DESTDIR}${file})
  cmake_path(GET file PARENT_PATH folder)
  set(failed 0)
  while(folder MATCHES "/peat" AND NOT failed)
    execute_process(COMMAND rmdir $ENV{DESTDIR}${folder} RESULT_VARIABLE failed ERROR_QUIET)
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()
