# SPDX-License-Identifier: BSD-3-Clause
# Compiler flags of everything that is ours: target memspan-flags, private to this tree.
add_library(memspan-flags INTERFACE)
target_compile_options(memspan-flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
  -Wvla -fvisibility=hidden -fno-common)
target_compile_definitions(memspan-flags INTERFACE _GNU_SOURCE)
# Of the compilers that CMake does not know.
set(MEMSPAN_WERROR "")
if(CMAKE_COMPILE_WARNING_AS_ERROR)
  set(MEMSPAN_WERROR -Werror)
endif()
target_include_directories(memspan-flags INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
if(MEMSPAN_SANITIZE)
  target_compile_options(memspan-flags INTERFACE
    -fsanitize=${MEMSPAN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(memspan-flags INTERFACE -fsanitize=${MEMSPAN_SANITIZE})
endif()
