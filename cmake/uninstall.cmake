# SPDX-License-Identifier: BSD-3-Clause
# cmake -DMANIFEST=FILE -DPREFIX=FILE -P uninstall.cmake: removes what the last `cmake --install` put there, Python's
# byte code of it, and the folders that are then empty. Folders of the system (/usr, /opt) stay, but for those of our name.
cmake_minimum_required(VERSION 3.25)
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "There is nothing to uninstall: no ${MANIFEST}.")
endif()
file(STRINGS ${MANIFEST} files)
file(READ ${PREFIX} prefix)

set(folders "")
foreach(file IN LISTS files)
  cmake_path(GET file PARENT_PATH folder)
  set(code "")
  if(file MATCHES "([^/]+)[.]py$")
    file(GLOB code "$ENV{DESTDIR}${folder}/__pycache__/${CMAKE_MATCH_1}.*.pyc")
    list(APPEND folders "${folder}/__pycache__")
  endif()
  file(REMOVE "$ENV{DESTDIR}${file}" ${code})
  cmake_path(IS_PREFIX prefix "${folder}" inside)
  while(inside AND NOT folder IN_LIST folders)
    list(APPEND folders "${folder}")
    cmake_path(GET folder PARENT_PATH folder)
    cmake_path(IS_PREFIX prefix "${folder}" inside)
  endwhile()
endforeach()

list(SORT folders ORDER DESCENDING) # a folder comes after those in it
foreach(folder IN LISTS folders)
  if(NOT folder MATCHES "^/(usr/|[^/]+$)" OR folder MATCHES "memspan|/(shmem|mpp)$")
    execute_process(COMMAND rmdir "$ENV{DESTDIR}${folder}" ERROR_QUIET) # one with others' files stays
  endif()
endforeach()
file(REMOVE ${MANIFEST})
list(LENGTH files count)
message(STATUS "removed ${count} files of ${prefix}")
