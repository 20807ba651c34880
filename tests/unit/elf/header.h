/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_UNIT_ELF_HEADER_H
#define MEMSPAN_TESTS_UNIT_ELF_HEADER_H

/* Code of another file than the one that is compiled. */

enum { ELF_HEADER_LINE = __LINE__ + 4 };

static inline int elf_inline(int number)
{
    return number * 3;
}

#endif /* MEMSPAN_TESTS_UNIT_ELF_HEADER_H */
