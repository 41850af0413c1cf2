#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a scenario inside this interpreter: run_scenario.py <folder of the libraries> <arguments of ttmem-sim ...>"""

import ctypes
import os
import sys


def main() -> int:
    library = ctypes.CDLL(os.path.join(sys.argv[1], "libttmem_sim_scenarios.so"), mode=os.RTLD_LOCAL | os.RTLD_NOW)
    arguments = [b"ttmem-sim"] + [os.fsencode(argument) for argument in sys.argv[2:]]
    vector = (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None)
    return library.ttmem_sim_main(len(arguments), vector)


if __name__ == "__main__":
    sys.exit(main())
