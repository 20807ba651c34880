# SPDX-License-Identifier: BSD-3-Clause
# A Clang whose OpenMP target regions run on the processor's own offload devices. That a compiler
# accepts the flags proves little (the device runtime, its plug-in or libffi may be missing), so a
# program is built and run: its target region must run on a device and use unmapped host memory.
#
# OffloadClang_FOUND, OffloadClang_COMPILER, OffloadClang_FLAGS (compile and link),
# OffloadClang_LIBRARY_DIR (where libomptarget lives: not on the loader's path), OffloadClang_WHY
# (what went wrong).
set(OffloadClang_NAMES clang-23 clang-22 clang-21 clang-20 clang-19 clang-18 clang-17 clang)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(OffloadClang_TRIPLE aarch64-unknown-linux-gnu)
else()
  set(OffloadClang_TRIPLE x86_64-pc-linux-gnu)
endif()
# Given with the compiler and the folder, they may be those of a GPU: then nothing is tried.
if(NOT OffloadClang_FLAGS)
  set(OffloadClang_FLAGS -fopenmp -fopenmp-targets=${OffloadClang_TRIPLE})
endif()

# Tries one compiler; sets OffloadClang_WHY ("" when it works) and OffloadClang_LIBRARY_DIR.
function(offload_clang_try compiler)
  set(dir ${CMAKE_BINARY_DIR}/CMakeFiles/offload-probe)
  file(WRITE ${dir}/probe.c [[
#include <omp.h>
int main(void)
{
    int on_host = 1, value[1] = {20}, *pointer = value;
    if (omp_get_num_devices() < 1) {
        return 2;
    }
    #pragma omp target map(tofrom : on_host) is_device_ptr(pointer)
    {
        on_host = omp_is_initial_device();
        pointer[0] += 1;
    }
    return on_host ? 3 : (value[0] == 21 ? 0 : 4);
}
]])
  execute_process(COMMAND ${compiler} -print-file-name=libomptarget.so
                  OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT IS_ABSOLUTE "${library}" OR NOT EXISTS "${library}")
    set(OffloadClang_WHY "${compiler} has no libomptarget" PARENT_SCOPE)
    return()
  endif()
  cmake_path(GET library PARENT_PATH library_dir)
  execute_process(COMMAND ${compiler} ${OffloadClang_FLAGS} probe.c -o probe -Wl,-rpath,${library_dir}
                  WORKING_DIRECTORY ${dir} RESULT_VARIABLE built OUTPUT_QUIET ERROR_QUIET TIMEOUT 60)
  if(NOT built STREQUAL "0")
    set(OffloadClang_WHY "${compiler} cannot build for ${OffloadClang_TRIPLE}" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env OMP_TARGET_OFFLOAD=DEFAULT ./probe
                  WORKING_DIRECTORY ${dir} RESULT_VARIABLE ran OUTPUT_QUIET ERROR_QUIET TIMEOUT 60)
  if(NOT ran STREQUAL "0")
    set(OffloadClang_WHY "${compiler} builds a program, but no device runs it (${ran})" PARENT_SCOPE)
    return()
  endif()
  file(REAL_PATH ${library_dir} library_dir)
  set(OffloadClang_WHY "" PARENT_SCOPE)
  set(OffloadClang_LIBRARY_DIR ${library_dir} PARENT_SCOPE)
endfunction()

if(NOT OffloadClang_COMPILER OR NOT OffloadClang_LIBRARY_DIR)
  set(OffloadClang_WHY "no clang found")
  foreach(name IN LISTS OffloadClang_NAMES)
    find_program(OffloadClang_CANDIDATE NAMES ${name} NO_CACHE)
    if(OffloadClang_CANDIDATE)
      offload_clang_try(${OffloadClang_CANDIDATE})
      if(OffloadClang_WHY STREQUAL "")
        set(OffloadClang_COMPILER ${OffloadClang_CANDIDATE} CACHE FILEPATH "Clang with offload devices")
        set(OffloadClang_LIBRARY_DIR ${OffloadClang_LIBRARY_DIR} CACHE PATH "where its libomptarget is")
        break()
      endif()
    endif()
    unset(OffloadClang_CANDIDATE)
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OffloadClang
  REQUIRED_VARS OffloadClang_COMPILER OffloadClang_LIBRARY_DIR
  REASON_FAILURE_MESSAGE "${OffloadClang_WHY}")
mark_as_advanced(OffloadClang_COMPILER OffloadClang_LIBRARY_DIR)
