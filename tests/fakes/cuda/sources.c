/* SPDX-License-Identifier: BSD-3-Clause */
/* sources.c: what a device can do comes with who says so, and a mode with how it is turned on. */

#include "tests/fakes/suite/sources.h"

TestSuite(cuda_sources, .init = pretended_find, .timeout = 60);

Test(cuda_sources, each_capability_has_one)
{
    static const struct sources_capability rows[] = {
        {"ATTRIBUTES=", MEMSPAN_CAN_ACCESS_PAGEABLE, "PAGEABLE_MEMORY_ACCESS 0"},
        {"ATTRIBUTES=88=1", MEMSPAN_CAN_ACCESS_PAGEABLE, "PAGEABLE_MEMORY_ACCESS 1"},
        {"ATTRIBUTES=89=0", MEMSPAN_CAN_ACCESS_CONCURRENT, "CONCURRENT_MANAGED_ACCESS 0"},
        {"ATTRIBUTES=83=0", MEMSPAN_CAN_ACCESS_CONCURRENT, "no managed memory"},
        {"ATTRIBUTES=116=0", MEMSPAN_CAN_RDMA, "GPU_DIRECT_RDMA_SUPPORTED 0"},
        {"ATTRIBUTES=91=0", MEMSPAN_CAN_IMPORT, "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM 0"},
        {"ATTRIBUTES=75=3", MEMSPAN_CAN_KERNELS, "compute capability"},
        {"ATTRIBUTES=41=0", MEMSPAN_CAN_IPC, "UNIFIED_ADDRESSING 0"},
    };

    sources_check_capabilities(rows, sizeof(rows) / sizeof(rows[0]));
}

Test(cuda_sources, modes_say_how_they_are_turned_on)
{
    static const struct sources_mode rows[] = {
        {"ATTRIBUTES=", "pageable memory access", 0, "HMM"},
        {"ATTRIBUTES=88=1", "pageable memory access", 1, ""},
        {"ATTRIBUTES=88=1,100=1", "coherent page tables", 1, ""},
        {"ATTRIBUTES=", "coherent page tables", 0, "cannot be turned on"},
        {"ATTRIBUTES=89=0", "concurrent managed access", 0, "Pascal"},
    };

    sources_check_modes(rows, sizeof(rows) / sizeof(rows[0]));
}

Test(cuda_sources, who_says_how_a_peer_is_reached)
{
    sources_check_peers("DEVICES=2", "cuDeviceCanAccessPeer 1");
}
