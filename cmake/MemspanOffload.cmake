# SPDX-License-Identifier: BSD-3-Clause
# memspan_add_offload_program(NAME SOURCES file.c ... [LIBRARIES target ...] [OPTIONS flag ...]
#                             [INCLUDES dir ...] [INSTALL folder])
#
# Builds NAME with the Clang that FindOffloadClang found, whatever compiler builds the rest: the
# program's target regions run on the processor's own offload devices. LIBRARIES are CMake targets
# names as a linker takes them, or $<TARGET_OBJECTS:...>; they come before the OpenMP runtime.
# INSTALL: where below the prefix it is installed. CMake does not relink such a program, so its
# run path has both places of the libraries, relative to it: in the build tree and installed.
# Afterwards NAME stands for the program in add_test() and $<TARGET_FILE:NAME>; NAME-build builds it
# and is part of "all".
#
# Where no such Clang exists, MEMSPAN_OFFLOAD is off and the function must not be called.
find_package(OffloadClang)
set(MEMSPAN_OFFLOAD ${OffloadClang_FOUND})
set(MEMSPAN_OFFLOAD_WARNINGS -std=gnu11 -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes
    -Wno-openmp-mapping -Wno-pass-failed ${MEMSPAN_WERROR})

# How a library built with a sanitizer gets its runtime in a program built without: GCC's runtime is
# a shared library that must be the first to load, Clang's is linked into the program.
function(memspan_offload_sanitizer_flags flags_p)
  set(flags "")
  if(MEMSPAN_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    foreach(pair IN ITEMS "address asan" "undefined ubsan" "thread tsan")
      separate_arguments(pair)
      list(GET pair 0 sanitizer)
      list(GET pair 1 runtime)
      if(MEMSPAN_SANITIZE MATCHES ${sanitizer})
        execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${runtime}.so
                        OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
        list(APPEND flags -Wl,--no-as-needed ${file})
      endif()
    endforeach()
  elseif(MEMSPAN_SANITIZE)
    set(flags -fsanitize=${MEMSPAN_SANITIZE})
  endif()
  set(${flags_p} ${flags} PARENT_SCOPE)
endfunction()

# What a target or linker name adds to the compile line, the link line and the dependencies. (The
# outputs' names in the caller must differ from the names used here.)
function(memspan_offload_library library compile_p link_p depends_p)
  set(one_compile "")
  set(one_link ${library})
  set(one_depends "")
  if(TARGET ${library})
    get_target_property(type ${library} TYPE)
    set(includes $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
    set(one_compile "$<$<BOOL:${includes}>:-I$<JOIN:${includes},$<SEMICOLON>-I>>")
    if(type STREQUAL "INTERFACE_LIBRARY")
      set(one_link $<TARGET_PROPERTY:${library},INTERFACE_LINK_LIBRARIES>)
    else()
      set(one_link $<TARGET_FILE:${library}>)
      if(NOT ARG_INSTALL)
        list(APPEND one_link -Wl,-rpath,$<TARGET_FILE_DIR:${library}>)
      endif()
      set(one_depends ${library})
    endif()
  elseif(library MATCHES "TARGET_OBJECTS")
    set(one_depends ${library})
  elseif(NOT library MATCHES "^(-|/)")
    set(one_link -l${library})
  endif()
  set(${compile_p} ${${compile_p}} ${one_compile} PARENT_SCOPE)
  set(${link_p} ${${link_p}} ${one_link} PARENT_SCOPE)
  set(${depends_p} ${${depends_p}} ${one_depends} PARENT_SCOPE)
endfunction()

function(memspan_add_offload_program name)
  cmake_parse_arguments(ARG "" "INSTALL" "SOURCES;LIBRARIES;OPTIONS;INCLUDES" ${ARGN})
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${name}.offload)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${name})
  if(CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
    file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}")
  # Objects for link-time optimisation need a linker with the compiler's plug-in, for the device too.
  list(FILTER flags EXCLUDE REGEX "^-flto")
  set(flags ${OffloadClang_FLAGS} ${MEMSPAN_OFFLOAD_WARNINGS} -D_GNU_SOURCE ${flags} ${ARG_OPTIONS})
  list(TRANSFORM ARG_INCLUDES PREPEND -I)
  list(APPEND flags ${ARG_INCLUDES})
  memspan_offload_sanitizer_flags(sanitizer)
  foreach(library IN LISTS ARG_LIBRARIES)
    memspan_offload_library(${library} flags link depends)
  endforeach()
  if(ARG_INSTALL)
    cmake_path(GET program PARENT_PATH folder)
    file(RELATIVE_PATH built ${folder} ${PROJECT_BINARY_DIR}/lib)
    file(RELATIVE_PATH installed /prefix/${ARG_INSTALL} /prefix/${CMAKE_INSTALL_LIBDIR})
    list(APPEND link "-Wl,-rpath,$ORIGIN/${built}:$ORIGIN/${installed}")
    install(PROGRAMS ${program} DESTINATION ${ARG_INSTALL})
  endif()

  set(objects "")
  file(MAKE_DIRECTORY ${dir})
  foreach(source IN LISTS ARG_SOURCES)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE file)
    string(REPLACE / . file ${file}) # files of two rooms may have one name
    set(object ${dir}/${file}.o)
    # -MD runs once for the host and once for the device; one compilation knows all headers.
    add_custom_command(OUTPUT ${object}
      COMMAND ${OffloadClang_COMPILER} "${flags}" -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d COMMAND_EXPAND_LISTS VERBATIM
      COMMENT "Building offload object ${name}.offload/${file}.o")
    list(APPEND objects ${object})
  endforeach()
  # A stamp, not the program, is what the target depends on: CMake would take a file that is called
  # like the imported target for that target.
  add_custom_command(OUTPUT ${dir}/linked BYPRODUCTS ${program}
    COMMAND ${OffloadClang_COMPILER} ${OffloadClang_FLAGS} "${sanitizer}" ${objects} "${link}"
            -Wl,-rpath,${OffloadClang_LIBRARY_DIR} -o ${program}
    COMMAND ${CMAKE_COMMAND} -E touch ${dir}/linked
    DEPENDS ${objects} ${depends} COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Linking offload program ${name}")

  add_custom_target(${name}-build ALL DEPENDS ${dir}/linked)
  add_executable(${name} IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${program})
endfunction()
