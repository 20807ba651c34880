/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_EXECUTABLE_H
#define MEMSPAN_SHMEM_TRANSPORT_EXECUTABLE_H

/* The main program of this process: where its variables are, and whether all PEs run the same one.
 *
 * The linker gives a variable its place in the data segment. Another executable has another
 * variable there, also where both segments have one size: only a PE of the same executable has
 * symmetric variables. */

#include "shmem/team.h"

enum { MSP_EXECUTABLE_PIECES_MAX = 4 };

/* Addresses of the variables, in whole pages. With large code models there are several pieces, a
 * page or a few apart. */
struct msp_executable {
    struct msp_executable_piece {
        uintptr_t first;
        uintptr_t file_end; /* from here on they begin as zeros */
        uintptr_t end;
    } pieces[MSP_EXECUTABLE_PIECES_MAX];
    int count;
    uintptr_t first; /* of all pieces */
    uintptr_t end;
};

/* What the executable has at an address. */
enum msp_executable_part {
    MSP_EXECUTABLE_NOTHING,
    MSP_EXECUTABLE_CONSTANT, /* read-only data, or code */
    MSP_EXECUTABLE_VARIABLE,
};

void msp_executable_find(struct msp_executable *executable);

/* Whether all PEs run one executable; collective over the job. PE 0 prints a warning with the first
 * two that differ. */
bool msp_executable_is_common(struct msp_team *job);

/* The two that differ, as a clause for messages; empty: none do. */
const char *msp_executable_difference(void);

enum msp_executable_part msp_executable_part_at(const void *address) __attribute__((cold));

#endif /* MEMSPAN_SHMEM_TRANSPORT_EXECUTABLE_H */
