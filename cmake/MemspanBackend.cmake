# SPDX-License-Identifier: BSD-3-Clause
# memspan_add_backend(NAME SOURCES ...): one call per built-in backend, in the order in which they
# are asked for devices. memspan_finish_backends() writes the list that core/device/backend.c walks.
#
# A backend NAME defines `const memspan_backend_t msp_backend_NAME`.
set_property(GLOBAL PROPERTY MEMSPAN_BACKENDS "")

function(memspan_add_backend name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(memspan-objects PRIVATE ${ARG_SOURCES})
  if(ARG_LIBRARIES)
    target_link_libraries(memspan-objects PRIVATE ${ARG_LIBRARIES})
  endif()
  set_property(GLOBAL APPEND PROPERTY MEMSPAN_BACKENDS ${name})
endfunction()

function(memspan_finish_backends)
  get_property(names GLOBAL PROPERTY MEMSPAN_BACKENDS)
  set(text "/* Written by cmake/MemspanBackend.cmake. */\n#include \"core/device/backend.h\"\n\n")
  foreach(name IN LISTS names)
    string(APPEND text "extern const memspan_backend_t msp_backend_${name};\n")
  endforeach()
  string(APPEND text "\nconst memspan_backend_t *const msp_backends_built_in[] = {\n")
  foreach(name IN LISTS names)
    string(APPEND text "    &msp_backend_${name},\n")
  endforeach()
  string(APPEND text "    NULL,\n};\n")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/backends_built_in.c CONTENT "${text}" @ONLY)
  target_sources(memspan-objects PRIVATE ${PROJECT_BINARY_DIR}/generated/backends_built_in.c)
endfunction()
