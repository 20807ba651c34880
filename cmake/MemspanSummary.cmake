# SPDX-License-Identifier: BSD-3-Clause
# The end of a configuration says what is built, what is not, why, and which package is missing.
#
# memspan_feature(NAME FOUND WHY [DEBIAN [FEDORA]]): a row of that summary. WHY it is off, where
# FOUND is false, and the packages to install then.
# memspan_print_summary(): the rows, in their order.
set_property(GLOBAL PROPERTY MEMSPAN_FEATURES "")

# "why (Debian: x, Fedora: y)"
function(memspan_missing sentence_p why)
  if(ARGC EQUAL 3)
    string(APPEND why " (Debian: ${ARGV2})")
  elseif(ARGC GREATER 3)
    string(APPEND why " (Debian: ${ARGV2}, Fedora: ${ARGV3})")
  endif()
  set(${sentence_p} "${why}" PARENT_SCOPE)
endfunction()

function(memspan_feature name found)
  set(state "on")
  if(NOT found)
    memspan_missing(why ${ARGN})
    set(state "off: ${why}")
  endif()
  set_property(GLOBAL APPEND PROPERTY MEMSPAN_FEATURES "${name}|${state}")
endfunction()

function(memspan_print_summary)
  get_property(rows GLOBAL PROPERTY MEMSPAN_FEATURES)
  message(STATUS "Memspan ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, by ${CMAKE_C_COMPILER}:")
  foreach(row IN LISTS rows)
    string(FIND "${row}" "|" at)
    string(SUBSTRING "${row}" 0 ${at} name)
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${row}" ${at} -1 state)
    string(LENGTH "${name}" length)
    math(EXPR blanks "42 - ${length}")
    string(REPEAT " " ${blanks} blanks)
    message(STATUS "  ${name}${blanks}${state}")
  endforeach()
endfunction()
