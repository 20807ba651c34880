/* SPDX-License-Identifier: BSD-3-Clause */
/* kind.c: the table of the kinds of memory of partitions. */

#include "core/base/platform.h"
#include "shmem/partition/placement.h"
#include <string.h>

#define PAGES(hint)    MSP_KIND_PAGES, MEMSPAN_KIND_HOST, (hint)
#define LOCKED         MSP_KIND_LOCKED, MEMSPAN_KIND_HOST_PINNED, 0
#define SHARED(memory) MSP_KIND_SHARED, MEMSPAN_KIND_##memory, 0
#define BLOCK          MSP_KIND_BLOCK, MEMSPAN_KIND_DEVICE, SHMEMX_MALLOC_DEVICE
#define FILED          MSP_KIND_FILE, MEMSPAN_KIND_HOST, 0
#define ROW(name, letters, backend, ...)                                                           \
    {                                                                                              \
        name, letters, backend, __VA_ARGS__                                                        \
    }

const struct msp_partition_kind msp_partition_kinds[] = {
    /* "D" is PROTO's word for the default, and begins DEVICE as well. */
    ROW("SYSDEFAULT", "SD", "", SHMEMX_KIND_SYSDEFAULT, PAGES(0)),
    ROW("NORMALMEM", "N", "", SHMEMX_KIND_NORMALMEM, PAGES(0)),
    ROW("FASTMEM", "F", "", SHMEMX_KIND_FASTMEM, PAGES(SHMEMX_MALLOC_HIGH_BW)),
    ROW("LARGEMEM", "", "", SHMEMX_KIND_LARGEMEM, PAGES(0)),
    ROW("PMEM", "", "", SHMEMX_KIND_PMEM, FILED),
    ROW("NVM", "", "", SHMEMX_KIND_PMEM, FILED),
    ROW("NVDIMM", "", "", SHMEMX_KIND_PMEM, FILED),
    ROW("LIBOMP", "L", "", SHMEMX_KIND_LIBOMP, BLOCK),
    ROW("PINNED", "P", "", SHMEMX_KIND_PINNED, LOCKED),
    ROW("MANAGED", "", "", SHMEMX_KIND_MANAGED, SHARED(MANAGED)),
    ROW("COHERENT", "", "", SHMEMX_KIND_COHERENT, SHARED(COHERENT)),
    ROW("DEVICE", "", "", SHMEMX_KIND_DEVICE, BLOCK),
    ROW("CUDA", "", "cuda", SHMEMX_KIND_DEVICE, BLOCK),
    ROW("HIP", "", "hip", SHMEMX_KIND_DEVICE, BLOCK),
    ROW("LEVEL_ZERO", "", "level_zero", SHMEMX_KIND_DEVICE, BLOCK),
    ROW("OPENCL", "", "opencl", SHMEMX_KIND_DEVICE, BLOCK),
    ROW("EMU", "", "emu", SHMEMX_KIND_DEVICE, BLOCK),
    {.name = NULL},
};

const struct msp_partition_kind *msp_partition_kind(shmemx_kind_t kind, const char *backend)
{
    const struct msp_partition_kind *row = msp_partition_kinds;

    while ((row->name != NULL) && ((row->kind != kind) || (strcmp(row->backend, backend) != 0))) {
        row++;
    }
    return (row->name != NULL) ? row : NULL;
}
