/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c: a libhwloc.so.15 that is of version FAKE_HWLOC_VERSION and can do nothing else. */

__attribute__((visibility("default"))) unsigned hwloc_get_api_version(void);

unsigned hwloc_get_api_version(void)
{
    return FAKE_HWLOC_VERSION;
}
