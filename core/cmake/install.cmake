# SPDX-License-Identifier: Apache-2.0
# find_package(gridwave) for C and C++ programs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS gridwave EXPORT gridwave-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/gridwave DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT gridwave-targets NAMESPACE gridwave:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gridwave)
configure_package_config_file(cmake/gridwave-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/gridwave-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gridwave)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/gridwave-config-version.cmake VERSION 0.1.0
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gridwave-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/gridwave-config-version.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gridwave)
