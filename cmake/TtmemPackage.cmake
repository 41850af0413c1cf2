# SPDX-License-Identifier: Apache-2.0
#
# The packages, made by CPack ('./dev package'): a Debian package, and an archive that runs from any folder. Both have everything
# that 'cmake --install' installs. The Debian package also has the component "service", files that belong to the system and not
# to a prefix.

set(packaging "${PROJECT_SOURCE_DIR}/packaging")

install(FILES "${packaging}/systemd/ttmemd.service" DESTINATION lib/systemd/system COMPONENT service EXCLUDE_FROM_ALL)
install(FILES "${packaging}/sysusers.d/ttmem.conf" DESTINATION lib/sysusers.d COMPONENT service EXCLUDE_FROM_ALL)
install(FILES "${packaging}/tmpfiles.d/ttmem.conf" DESTINATION lib/tmpfiles.d COMPONENT service EXCLUDE_FROM_ALL)
install(FILES "${packaging}/ttmemd.toml" DESTINATION /etc/ttmem COMPONENT service EXCLUDE_FROM_ALL)

# The file derives the prefix from its own path, so it is right in every prefix.
configure_file("${packaging}/ttmem.pc.in" "${PROJECT_BINARY_DIR}/ttmem.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/ttmem.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(FILES "${packaging}/man/ttmem.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${packaging}/man/ttmemd.8" DESTINATION "${CMAKE_INSTALL_MANDIR}/man8")
install(FILES "${packaging}/completion/ttmem" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${packaging}/completion/ttmem.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
install(FILES "${packaging}/completion/ttmem.zsh" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions" RENAME _ttmem)
install(DIRECTORY docs/ TYPE DOC FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
install(FILES README.md CHANGELOG.md TYPE DOC)
install(FILES LICENSE TYPE DOC RENAME copyright)
install(DIRECTORY "${packaging}/prometheus" "${packaging}/grafana" DESTINATION "${CMAKE_INSTALL_DATADIR}/ttmem" OPTIONAL)

install(DIRECTORY integrations/tt-metal DESTINATION "${CMAKE_INSTALL_DATADIR}/ttmem/integrations" USE_SOURCE_PERMISSIONS)

# For hosts that do not know the user's terminal: the types of Debian's ncurses-base.
install(DIRECTORY /lib/terminfo/ DESTINATION "${CMAKE_INSTALL_DATADIR}/ttmem/terminfo")

# The terms of what is linked into the programs.
foreach(library IN ITEMS libboost1.81-dev libcli11-dev libexpected-dev libfmt-dev libncurses-dev libprotozero-dev
        libsqlite3-dev libstdc++-12-dev libtomlplusplus-dev libzstd-dev nlohmann-json3-dev zlib1g-dev)
    install(FILES "/usr/share/doc/${library}/copyright" DESTINATION "${CMAKE_INSTALL_DOCDIR}/libraries" RENAME "${library}")
endforeach()

set(CPACK_GENERATOR DEB TZST)
set(CPACK_TTMEM_BUILD_FOLDER "${CMAKE_BINARY_DIR}")  # for the next file
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/TtmemGenerators.cmake")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "ttmem <root@localhost>")
set(CPACK_PACKAGE_DESCRIPTION
    "Each process that uses a Tenstorrent device records its allocations in its own shared memory. ttmem reads it; the daemon
ttmemd keeps history, detects processes that die, and serves an API. Contains the programs, the client library with its
headers, the observer of unmodified programs, a simulated runtime and the daemon's service.")
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" system)
set(CPACK_PACKAGE_FILE_NAME "ttmem-${PROJECT_VERSION}-${system}")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
# Not read from the programs: an observer also needs libstdc++, which the program that it observes has loaded already.
# tests/package/portable_test.py compares both lines with the programs.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.34), libgcc-s1")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${packaging}/debian/conffiles"
    "${packaging}/debian/postinst"
    "${packaging}/debian/postrm"
    "${packaging}/debian/prerm"
    "${packaging}/debian/triggers")
include(CPack)
