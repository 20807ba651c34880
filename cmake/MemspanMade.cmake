# SPDX-License-Identifier: BSD-3-Clause
# memspan_install_made(FOLDER SCRIPT FILES ARGUMENT...): the FILES that a script makes from the headers are
# made in FOLDER when Memspan is installed.
function(memspan_install_made folder script files)
  install(CODE "
    set(folder \"${folder}\")
    if(NOT IS_ABSOLUTE \"\${folder}\")
      set(folder \"\${CMAKE_INSTALL_PREFIX}/\${folder}\")
    endif()
    set(arguments ${ARGN})
    execute_process(COMMAND \"${Python3_EXECUTABLE}\" \"${script}\" --cc \"${CMAKE_C_COMPILER}\"
                    \"${PROJECT_SOURCE_DIR}/include\" \"\$ENV{DESTDIR}\${folder}\" \${arguments}
                    COMMAND_ERROR_IS_FATAL ANY)
    set(made ${files})
    list(TRANSFORM made PREPEND \"\${folder}/\")
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \${made}) # of install_manifest.txt, for uninstalling")
endfunction()
