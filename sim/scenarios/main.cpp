// SPDX-License-Identifier: Apache-2.0
//
// ttmem-sim: runs scenarios on the simulated runtime. `ttmem sim` starts it.
#include "sim/scenarios/entry.h"

int main(int argc, char** argv) { return ttmem_sim_main(argc, argv); }
