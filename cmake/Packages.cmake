# The Debian package, made by `scripts/package`: the program and its data files.

install(FILES README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
install(FILES cmake/copyright "${CMAKE_BINARY_DIR}/changelog.gz"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/steptune" COMPONENT steptune)

set(STEPTUNE_PACKAGE_CONTACT "Steptune authors <steptune@localhost.localdomain>"
  CACHE STRING "Maintainer of the packages, as name <address>")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME steptune)
# A package needs the libraries of the system that it was built on, so its version names the system: 0.1.0+deb13.
cmake_host_system_information(RESULT system QUERY DISTRIB_INFO)
string(REPLACE debian deb system_name "${system_ID}")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}+${system_name}${system_VERSION_ID}")
set(CPACK_PACKAGE_CONTACT "${STEPTUNE_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
# Fixed permissions, so that the same files give the same package.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_COMPONENTS_ALL steptune)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_STEPTUNE_PACKAGE_NAME steptune)
set(CPACK_COMPONENT_STEPTUNE_DESCRIPTION
  "tunes a training program's configuration for time and cost
Runs the user's own training command for a short while under different batch
sizes, data-loader workers, precisions and machines, measures seconds per
sample with confidence intervals, and recommends a configuration.")
# libcurl is opened at run time, so the linker does not record it. The second name is that of Debian 13 and Ubuntu 24.04.
set(CPACK_DEBIAN_STEPTUNE_PACKAGE_DEPENDS "libcurl4 | libcurl4t64")

set(CPACK_DEBIAN_STEPTUNE_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_LIST_DIR}/prerm")
set(CPACK_DEBIAN_STEPTUNE_PACKAGE_CONTROL_STRICT_PERMISSION ON)

include(CPack)
