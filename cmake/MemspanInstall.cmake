# SPDX-License-Identifier: BSD-3-Clause
install(TARGETS memspan EXPORT memspan-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/memspan DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
