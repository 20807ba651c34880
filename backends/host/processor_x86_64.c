/* SPDX-License-Identifier: BSD-3-Clause */
/* processor_x86_64.c: the processor's name, from the processor. Opening /proc/cpuinfo makes older
 * kernels measure the clock of every processor first, which takes milliseconds. */

#include "backends/host/host.h"
#include <cpuid.h>
#include <string.h>

static void copy_trimmed(char *to, size_t size, const char *from)
{
    size_t length;

    from += strspn(from, " ");
    length = strnlen(from, size - 1);
    memcpy(to, from, length);
    while ((length > 0) && (to[length - 1] == ' ')) {
        length--;
    }
    to[length] = '\0';
}

void host_processor_describe(memspan_device_info_t *info)
{
    static const unsigned vendor_leaf = 0;
    static const unsigned last_leaf   = 0x80000000u;
    static const unsigned brand_leaf  = 0x80000002u; /* and the two after it */
    unsigned words[3 * 4 + 1]         = {0}; /* 48 characters, and the null that may be missing */
    unsigned unused;
    size_t i;

    __cpuid(vendor_leaf, unused, words[0], words[2], words[1]);
    copy_trimmed(info->vendor, sizeof(info->vendor), (const char *)words);
    __cpuid(last_leaf, words[0], unused, unused, unused);
    if (words[0] < brand_leaf + 2) {
        return;
    }
    for (i = 0; i < 3; i++) {
        __cpuid(brand_leaf + (unsigned)i, words[4 * i], words[4 * i + 1], words[4 * i + 2],
                words[4 * i + 3]);
    }
    copy_trimmed(info->name, sizeof(info->name), (const char *)words);
}
