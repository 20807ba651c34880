# SPDX-License-Identifier: BSD-3-Clause
# The Fortran modules: include/fortran/modules.py makes their sources from the headers, when they are
# installed and for tests. Each compiler has a format of .mod files of its own, so programs compile the sources.
memspan_feature("Fortran modules" "${Python3_Interpreter_FOUND}" "Python 3.9 or newer is not here" python3 python3)
set(MEMSPAN_FORTRAN_SCRIPT ${PROJECT_SOURCE_DIR}/include/fortran/modules.py)
set(MEMSPAN_FORTRAN_MODULES memspan memspan_omp)
if(MEMSPAN_BUILD_SHMEM)
  list(APPEND MEMSPAN_FORTRAN_MODULES shmem shmemx pshmem)
endif()

# The language is for tests alone. CMake wants it enabled here, above all that use it.
set(MEMSPAN_FORTRAN_WHY "")
if(NOT Python3_Interpreter_FOUND)
  set(MEMSPAN_FORTRAN_WHY "Python 3.9 or newer is not here")
elseif(NOT MEMSPAN_BUILD_SHMEM)
  set(MEMSPAN_FORTRAN_WHY "OpenSHMEM is not built")
elseif(MEMSPAN_BUILD_TESTS AND NOT MEMSPAN_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
  else()
    set(MEMSPAN_FORTRAN_WHY "no Fortran compiler is here")
  endif()
endif()
string(COMPARE EQUAL "${MEMSPAN_FORTRAN_WHY}" "" MEMSPAN_FORTRAN)

if(Python3_Interpreter_FOUND)
  list(TRANSFORM MEMSPAN_FORTRAN_MODULES APPEND .f90 OUTPUT_VARIABLE MEMSPAN_FORTRAN_FILES)
  memspan_install_made(${CMAKE_INSTALL_DATADIR}/memspan/fortran ${MEMSPAN_FORTRAN_SCRIPT}
                       "${MEMSPAN_FORTRAN_FILES}" ${MEMSPAN_FORTRAN_MODULES})
endif()
