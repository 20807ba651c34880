/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of libmemkind, which libomp opens when it is first called: as there, the constructor
 * needs more stack than a small thread has. */
#include <string.h>

__attribute__((constructor)) static void start(void)
{
    char room[48 << 10];

    memset(room, 1, sizeof(room));
    __asm__ volatile("" : : "r"(room) : "memory");
}
