# SPDX-License-Identifier: BSD-3-Clause
# cmake -P platform.cmake SOURCE-FOLDER: which platforms are refused, and in which words.
include(${CMAKE_ARGV3}/cmake/MemspanPlatform.cmake)

function(expect words)
  memspan_refuse_platform(problem ${ARGN})
  if(NOT "${problem}" MATCHES "^${words}")
    message(SEND_ERROR "${ARGN}: \"${problem}\", not \"${words}\"")
  endif()
endfunction()

expect("$" Linux LITTLE_ENDIAN 8 1)
expect("Memspan runs on Linux; this is Darwin" Darwin LITTLE_ENDIAN 8 0)
expect("Memspan needs 64-bit addresses; here they have 4 bytes" Linux LITTLE_ENDIAN 4 1)
expect(".*this one is big-endian" Linux BIG_ENDIAN 8 1)
expect("Memspan needs the GNU C library.*musl" Linux LITTLE_ENDIAN 8 0)
