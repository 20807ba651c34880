# SPDX-License-Identifier: BSD-3-Clause
# What is installed to be read: the guide, and, where mandoc is, the manual pages as HTML, made when they are installed.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/guide DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
        FILES_MATCHING PATTERN "*.md")

find_program(MEMSPAN_MANDOC mandoc)
memspan_feature("manual pages as HTML" "${MEMSPAN_MANDOC}" "mandoc is not here" mandoc mandoc)
if(NOT MEMSPAN_MANDOC)
  return()
endif()
block()
foreach(folder IN ITEMS include/man cmd/* bench)
  file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.[1-9])
  list(APPEND pages ${found})
endforeach()
install(CODE "
  set(folder \"${CMAKE_INSTALL_DOCDIR}/html\")
  if(NOT IS_ABSOLUTE \"\${folder}\")
    set(folder \"\${CMAKE_INSTALL_PREFIX}/\${folder}\")
  endif()
  set(pages \"${pages}\")
  execute_process(COMMAND sh \"${PROJECT_SOURCE_DIR}/cmake/man_html.sh\" \"${MEMSPAN_MANDOC}\"
                  \"\$ENV{DESTDIR}\${folder}\" \${pages}
                  OUTPUT_VARIABLE made COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(made UNIX_COMMAND \"\${made}\")
  list(TRANSFORM made PREPEND \"\${folder}/\")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \${made}) # of install_manifest.txt, for uninstalling"
  COMPONENT doc)
endblock()
