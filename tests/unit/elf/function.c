/* SPDX-License-Identifier: BSD-3-Clause */
/* A function whose line is known; compiled with the line tables of DWARF 2 to 5. */

#include "tests/unit/elf/header.h"

int elf_function(void (*call)(void), int *line_p);

int elf_function(void (*call)(void), int *line_p)
{
    *line_p = __LINE__ + 1;
    call();
    return elf_inline(*line_p);
}
