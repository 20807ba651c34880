/* SPDX-License-Identifier: BSD-3-Clause */
/* A library by the name of ours: what a program links is all that oshrun looks at. */

int linked_value(void);
__attribute__((visibility("default"))) int linked_value(void)
{
    return 0;
}
