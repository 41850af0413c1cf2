# SPDX-License-Identifier: Apache-2.0
"""A host of its own for this process: an empty /run and a network in which every port is free."""

import ctypes
import fcntl
import os
import socket
import struct
import unittest

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1


def enter_private_host():
    """Call it from setUpModule: it skips the tests where this process may not create namespaces."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS | CLONE_NEWNET) != 0:
        raise unittest.SkipTest(f"needs root, for a network of its own: {os.strerror(ctypes.get_errno())}")
    for arguments in ((b"none", b"/", None, MS_REC | MS_PRIVATE, None), (b"tmpfs", b"/run", b"tmpfs", 0, b"mode=755")):
        if libc.mount(*arguments) != 0:
            raise unittest.SkipTest(f"needs root, to mount {arguments[1].decode()}: {os.strerror(ctypes.get_errno())}")
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
