/* SPDX-License-Identifier: Apache-2.0 */
/* A program without a dynamic linker, to which nothing can be preloaded. */
#include <stdio.h>

int main(void) {
    puts("static");
    return 3;
}
