/* SPDX-License-Identifier: BSD-3-Clause */
/* sources.c: what a device can do comes with who says so, and a mode with how it is turned on. */

#include "tests/fakes/suite/sources.h"

TestSuite(hip_sources, .init = pretended_find, .timeout = 60);

Test(hip_sources, each_capability_has_one)
{
    static const struct sources_capability rows[] = {
        {"ATTRIBUTES=", MEMSPAN_CAN_ACCESS_PAGEABLE, "PageableMemoryAccess 0"},
        {"ATTRIBUTES=65=1", MEMSPAN_CAN_ACCESS_PAGEABLE, "PageableMemoryAccess 1"},
        {"ATTRIBUTES=24=0", MEMSPAN_CAN_ACCESS_CONCURRENT, "ManagedMemory 0"},
        {"ATTRIBUTES=", MEMSPAN_CAN_IPC, "hipIpcGetMemHandle; the other process must see"},
        {"ATTRIBUTES=", MEMSPAN_CAN_RDMA, "/sys/kernel/mm/memory_peers"},
        {"LIES=pointer", MEMSPAN_CAN_IMPORT, "did not keep its address"},
        {"ATTRIBUTES=85=0", MEMSPAN_CAN_IPC, "UnifiedAddressing 0"},
    };

    sources_check_capabilities(rows, sizeof(rows) / sizeof(rows[0]));
}

Test(hip_sources, modes_say_how_they_are_turned_on)
{
    static const struct sources_mode rows[] = {
        {"ATTRIBUTES=", "XNACK", 0, "HSA_XNACK=1"},
        {"ATTRIBUTES=24=0", "XNACK", 0, "CONFIG_HSA_AMD_SVM"},
        {"ATTRIBUTES=65=1", "XNACK", 1, ""},
        {"ATTRIBUTES=16=1,65=1,66=1", "XNACK", 0, "not needed"},
        {"ATTRIBUTES=", "fine-grained device memory", 0, "large BAR"},
    };

    sources_check_modes(rows, sizeof(rows) / sizeof(rows[0]));
}

Test(hip_sources, who_says_how_a_peer_is_reached)
{
    sources_check_peers("DEVICES=2", "hipDeviceCanAccessPeer 1");
}
