# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where, and how others find it: by find_package(memspan CONFIG) and by
# pkg-config, from a prefix that may be moved, or straight from the build tree
# (-DCMAKE_PREFIX_PATH=build/dev).
#
# Only what users are meant to see is installed: public headers, the library, the tools, manual
# pages. The library's own dependencies are private to it and appear in no interface.
include(CMakePackageConfigHelpers)

# The version stands once for programs (status.h) and once for packages (project()).
file(STRINGS ${PROJECT_SOURCE_DIR}/include/memspan/status.h version_line
     REGEX "^#define MEMSPAN_VERSION_STRING")
if(NOT version_line MATCHES "\"${PROJECT_VERSION}\"")
  message(FATAL_ERROR "CMakeLists.txt says version ${PROJECT_VERSION}, status.h: ${version_line}")
endif()

install(TARGETS memspan EXPORT memspan-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/memspan DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(TARGET memspan-shmem)
  install(TARGETS memspan-shmem EXPORT memspan-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${PROJECT_BINARY_DIR}/lib/libsma.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES include/shmem.h include/shmemx.h include/shmemx_device.h include/pshmem.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY include/shmem include/mpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
foreach(tool memquery memspan-bench)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
foreach(section 3 7)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
# `man NAME` finds every call: a page of one line leads to the page that describes it.
set(man_families "")
if(TARGET memspan-shmem AND CMAKE_NM)
  set(man_families "${CMAKE_NM} $<TARGET_FILE:memspan-shmem>")
endif()
install(CODE "
  set(folder \"${CMAKE_INSTALL_MANDIR}/man3\")
  if(NOT IS_ABSOLUTE \"\${folder}\")
    set(folder \"\${CMAKE_INSTALL_PREFIX}/\${folder}\")
  endif()
  separate_arguments(families UNIX_COMMAND \"${man_families}\")
  execute_process(COMMAND sh \"${PROJECT_SOURCE_DIR}/cmake/man_links.sh\" \"${PROJECT_SOURCE_DIR}/include/man\"
                  \"\$ENV{DESTDIR}\${folder}\" \${families}
                  OUTPUT_VARIABLE made COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(made UNIX_COMMAND \"\${made}\")
  list(TRANSFORM made PREPEND \"\${folder}/\")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \${made}) # of install_manifest.txt, for uninstalling")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# find_package(memspan CONFIG): the targets memspan::memspan and memspan::shmem.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/memspan)
configure_package_config_file(cmake/memspan-config.cmake.in
  ${PROJECT_BINARY_DIR}/memspan-config.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/memspan-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/memspan-config.cmake
  ${PROJECT_BINARY_DIR}/memspan-config-version.cmake DESTINATION ${package_dir})
install(EXPORT memspan-targets NAMESPACE memspan:: DESTINATION ${package_dir})
export(EXPORT memspan-targets NAMESPACE memspan::
       FILE ${PROJECT_BINARY_DIR}/memspan-targets.cmake)

# pkg-config: paths relative to the .pc file, so that a moved prefix still works.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(MEMSPAN_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /prefix/${pc_dir} /prefix)
  string(REGEX REPLACE "/$" "" up ${up})
  set(MEMSPAN_PC_PREFIX "\${pcfiledir}/${up}")
endif()
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}"
           OUTPUT_VARIABLE MEMSPAN_PC_LIBDIR)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}"
           OUTPUT_VARIABLE MEMSPAN_PC_INCLUDEDIR)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_DATADIR BASE_DIRECTORY "\${prefix}"
           OUTPUT_VARIABLE MEMSPAN_PC_DATADIR)
# A program starts from wherever the libraries are; below /usr the loader finds them itself.
set(MEMSPAN_PC_RUN_PATH "")
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(MEMSPAN_PC_RUN_PATH " -Wl,-rpath,\${libdir}")
endif()
configure_file(cmake/memspan.pc.in ${PROJECT_BINARY_DIR}/memspan.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/memspan.pc DESTINATION ${pc_dir})
if(TARGET memspan-shmem)
  configure_file(cmake/memspan-shmem.pc.in ${PROJECT_BINARY_DIR}/memspan-shmem.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/memspan-shmem.pc DESTINATION ${pc_dir})
endif()

# `module load memspan`, for prefixes inside which all paths are relative; below /usr nothing needs it.
set(module_dir ${CMAKE_INSTALL_DATADIR}/modulefiles/memspan)
if(NOT "${CMAKE_INSTALL_BINDIR};${CMAKE_INSTALL_LIBDIR};${module_dir};${MEMSPAN_PYTHON_DIR}" MATCHES "(^|;)/")
  file(RELATIVE_PATH MEMSPAN_MODULE_UP /prefix/${module_dir} /prefix)
  configure_file(cmake/modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${module_dir} RENAME ${PROJECT_VERSION})
endif()

# The target `uninstall` removes what install_manifest.txt lists; the prefix is known when that is written.
set(installed_prefix ${PROJECT_BINARY_DIR}/install_prefix.txt)
install(CODE "file(WRITE \"${installed_prefix}\" \"\${CMAKE_INSTALL_PREFIX}\")")
add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt -DPREFIX=${installed_prefix}
          -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
  VERBATIM)

# `cpack` in the build folder: what is installed as a tarball, which runs where it is unpacked;
# `cpack --config CPackSourceConfig.cmake`: the sources (a release's are made by cmake/release).
set(CPACK_GENERATOR TGZ)
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME memspan-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_SOURCE_PACKAGE_FILE_NAME memspan-${PROJECT_VERSION})
set(CPACK_SOURCE_IGNORE_FILES "^${PROJECT_SOURCE_DIR}/((build|dist)/|[.]git(/|$))") # a file in a worktree of git
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
