# SPDX-License-Identifier: Apache-2.0
#
# What differs between the packages. CPack reads this file once for each of them.

set(everything "${CPACK_TTMEM_BUILD_FOLDER};ttmem;ALL;/")
if(CPACK_GENERATOR STREQUAL "DEB")
    set(CPACK_INSTALL_CMAKE_PROJECTS "${everything}" "${CPACK_TTMEM_BUILD_FOLDER};ttmem;service;/")
    set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
else()
    set(CPACK_INSTALL_CMAKE_PROJECTS "${everything}")
    set(CPACK_PACKAGING_INSTALL_PREFIX /)
endif()
