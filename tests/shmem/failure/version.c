/* SPDX-License-Identifier: BSD-3-Clause */
/* version.c: to be preloaded: another version of Memspan, as far as other PEs can tell. */

__attribute__((visibility("default"))) const char *memspan_version(void);
const char *memspan_version(void)
{
    return "0.0.1";
}
