/* SPDX-License-Identifier: BSD-3-Clause */
/* sources.c: what a device can do comes with who says so, and a mode with how it is turned on. */

#include "tests/fakes/suite/sources.h"

TestSuite(level_zero_sources, .init = pretended_find, .timeout = 60);

Test(level_zero_sources, each_capability_has_one)
{
    static const struct sources_capability rows[] = {
        {"ACCESS=f,3,3,1,0", MEMSPAN_CAN_ACCESS_PAGEABLE, "sharedSystemAllocCapabilities 0"},
        {"ACCESS=f,3,3,1,f", MEMSPAN_CAN_ACCESS_PAGEABLE, "sharedSystemAllocCapabilities 0xf"},
        {"ACCESS=1,3,3,1,0", MEMSPAN_CAN_HOST_ATOMICS, "hostAllocCapabilities 0x1"},
        {"LACKS=ipc", MEMSPAN_CAN_IPC, "ZE_IPC_PROPERTY_FLAG_MEMORY 0"},
        {"LACKS=dmabuf", MEMSPAN_CAN_DMABUF, "DMA_BUF 0"},
        {"IMPORT=none", MEMSPAN_CAN_IMPORT, "neither external_memmap_sysmem"},
        {"IMPORT=memmap", MEMSPAN_CAN_IMPORT, "external_memmap_sysmem"},
    };

    sources_check_capabilities(rows, sizeof(rows) / sizeof(rows[0]));
}

Test(level_zero_sources, modes_say_how_they_are_turned_on)
{
    static const struct sources_mode rows[] = {
        {"ACCESS=f,3,3,1,0", "unified shared memory", 0, "CONFIG_DRM_XE_GPUSVM"},
        {"ACCESS=f,3,3,1,f", "unified shared memory", 1, ""},
        {"ACCESS=f,3,3,1,0", "concurrent shared memory", 0, "cannot be turned on"},
        {"ACCESS=f,3,7,1,0", "concurrent shared memory", 1, ""},
    };

    sources_check_modes(rows, sizeof(rows) / sizeof(rows[0]));
}

Test(level_zero_sources, who_says_how_a_peer_is_reached)
{
    sources_check_peers("DEVICES=2", "zeDeviceCanAccessPeer 1");
}
