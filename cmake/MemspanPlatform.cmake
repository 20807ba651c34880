# SPDX-License-Identifier: BSD-3-Clause
# Where Memspan does not run it says so when it is configured, not in the middle of a build or in
# wrong answers: memspan_refuse_platform(PROBLEM-VARIABLE SYSTEM ORDER POINTER-BYTES GLIBC) sets the
# variable to what is wrong with such a platform, or to "". tests/install calls it for platforms that
# this one is not.
function(memspan_refuse_platform problem_p system order pointer_bytes glibc)
  set(problem "")
  if(NOT system STREQUAL "Linux")
    set(problem "Memspan runs on Linux; this is ${system}")
  elseif(NOT pointer_bytes EQUAL 8)
    set(problem "Memspan needs 64-bit addresses; here they have ${pointer_bytes} bytes")
  elseif(order STREQUAL "BIG_ENDIAN")
    set(problem "Memspan runs on little-endian processors (x86-64, aarch64); this one is big-endian")
  elseif(NOT glibc)
    string(CONCAT problem "Memspan needs the GNU C library: it finds the OpenMP runtime behind it by "
           "dlsym(RTLD_NEXT), whose lookup order other C libraries (musl) do not promise")
  endif()
  set(${problem_p} "${problem}" PARENT_SCOPE)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  include(CheckCSourceCompiles)
  check_c_source_compiles("#include <features.h>
#ifndef __GLIBC__
#error not the GNU C library
#endif
int main(void) { return 0; }" MEMSPAN_HAVE_GLIBC)
  memspan_refuse_platform(problem "${CMAKE_SYSTEM_NAME}" "${CMAKE_C_BYTE_ORDER}"
                          "${CMAKE_SIZEOF_VOID_P}" "${MEMSPAN_HAVE_GLIBC}")
  if(problem)
    message(FATAL_ERROR "${problem}")
  endif()
endif()
