# SPDX-License-Identifier: BSD-3-Clause
# The Python module, whole in the build tree's folder python: links to its sources, and the declarations
# that include/python/declarations.py makes from the headers.
memspan_feature("Python module" "${Python3_Interpreter_FOUND}" "Python 3.9 or newer is not here" python3 python3)
if(NOT Python3_Interpreter_FOUND)
  return()
endif()
# Debian's folder of modules, of every Python 3.
set(MEMSPAN_PYTHON_DIR lib/python3/dist-packages CACHE STRING "where the Python module is installed")
block()
set(sources ${PROJECT_SOURCE_DIR}/include)
set(folder ${PROJECT_BINARY_DIR}/python/memspan)
file(MAKE_DIRECTORY ${folder})
file(GLOB modules CONFIGURE_DEPENDS ${sources}/python/memspan/*.py)
foreach(module IN LISTS modules)
  cmake_path(GET module FILENAME name)
  file(CREATE_LINK ${module} ${folder}/${name} SYMBOLIC)
endforeach()
set(made ${folder}/_declarations.py ${folder}/_shmem_declarations.py)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${sources}/*.h)
add_custom_command(OUTPUT ${made}
  COMMAND ${Python3_EXECUTABLE} ${sources}/python/declarations.py --cc ${CMAKE_C_COMPILER} ${sources} ${folder}
  DEPENDS ${headers} ${sources}/headers.py ${sources}/python/declarations.py)
add_custom_target(memspan-python ALL DEPENDS ${made})
install(FILES ${modules} DESTINATION ${MEMSPAN_PYTHON_DIR}/memspan)
memspan_install_made(${MEMSPAN_PYTHON_DIR}/memspan ${sources}/python/declarations.py
                     "_declarations.py;_shmem_declarations.py")
endblock()
