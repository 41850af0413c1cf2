/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTMEM_SIM_ENTRY_H
#define TTMEM_SIM_ENTRY_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The whole of ttmem-sim: the arguments are those of its command line, argv[0] included, and the result is its exit
 * code. The simulated host is that of the first call; a later one must not ask for another board.
 */
__attribute__((visibility("default"))) int ttmem_sim_main(int argc, char** argv);

#ifdef __cplusplus
}
#endif

#endif
