# SPDX-License-Identifier: Apache-2.0
"""The harness of all end-to-end tests. Import what a test needs from the module that has it:

    programs          paths of the programs and libraries under test
    waiting           wait_until(), LineReader
    test_case         TestCase: starts daemons, simulators and tracked processes, and stops them after the test
    daemon            RuntimeDirectory, Daemon
    simulator         Simulator: the simulated runtime, paused at its steps
    tracked_process   TrackedProcess: a process that runs code which the test sends it
    tracked_files     the files that git tracks
    users             users without an account, and skipping where the test may not become one of them
    http_client       http_get(), EventStream
    classic_client    a client of the classic wire
    terminal          Terminal: a tmux server with one shell
    pseudo_terminal   the output of a program on a terminal of a given size
    processes         children and names of processes
    figures           bytes per device and kind, of views and of allocators
    driver_tree       DriverTree: the files that the kernel driver shows, for any board
    stock_region      StockRegion: the shared memory that stock tt-metal writes
    host_case         HostCase: a TestCase on a DriverTree
    observer          the preloaded library, and environments with and without it
    hostile_names     names that want to be more than names
    attacks           what hostile users do; attack_case: AttackCase with an attacker, an honest user and the daemon of root
    sanitizers        whether the programs are built with a sanitizer, and less work for them
    forged_segment    code for processes that present a changed segment
    examples          the examples of help texts and the command lines of documents
    python_package    the Python package of the tree, and scripts that use it
    private_host      an empty /run and an empty network for a test script
    libttmem          the C API of libttmem

Scripts find it by PYTHONPATH=tests, which python_test.cmake sets.
"""
