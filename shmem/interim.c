/* SPDX-License-Identifier: BSD-3-Clause */
/* interim.c: one partition of host memory, weakly defined: what partition.c, space.c and remote.c
 * define takes its place, and then this file goes. */

#include "shmem/option.h"
#include "shmem/partition.h"
#include "shmem/remote.h"
#include "shmem/space.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define INTERIM __attribute__((weak))

static struct memspan_partition one;

INTERIM memspan_status_t memspan_partition_open(void)
{
    size_t size             = memspan_shmem_option_number(MEMSPAN_SHMEM_SYMMETRIC_SIZE);
    memspan_status_t status = memspan_arena_open(size, size);

    if (status == MEMSPAN_OK) {
        status = memspan_segment_create("memspan-heap", size, 0, &one.segment);
    }
    one.id                                  = 1;
    one.team                                = 1;
    memspan_segments[one.segment].partition = 1;
    return (status != MEMSPAN_OK) ? status : memspan_symmetric_heap_create(size, 4096, &one.heap);
}
INTERIM void memspan_partition_close(void)
{
    memspan_symmetric_heap_destroy(one.heap);
    memspan_segment_destroy(one.segment);
}
INTERIM void memspan_partition_print(void)
{
}
INTERIM struct memspan_partition *memspan_partition_get(int id)
{
    return ((id == MEMSPAN_PARTITION_DEFAULT) || (id == 1)) ? &one : NULL;
}
INTERIM struct memspan_partition *memspan_partition_of(const void *address)
{
    return (memspan_segment_of(address) == &memspan_segments[one.segment]) ? &one : NULL;
}
INTERIM bool memspan_partition_is_default_sized(const struct memspan_partition *partition)
{
    (void)partition;
    return true;
}
#define NONE(result, name, ...)                                                                    \
    INTERIM result name(__VA_ARGS__)                                                               \
    {                                                                                              \
        memspan_fatal(#name " is not there yet");                                                  \
    }
NONE(int, memspan_partition_ids, int *ids, int capacity)
NONE(memspan_status_t, memspan_partition_describe, int id, shmemx_partition_info_t *info_p)
NONE(const char *, memspan_partition_name, int id)
NONE(int, memspan_partition_by_name, const char *name)
NONE(int, memspan_symmetric_space_create, struct memspan_team *team,
     const shmemx_space_config_t *config, shmemx_space_t *space_p)
NONE(int, memspan_symmetric_space_attach, struct memspan_team *team, shmemx_space_t space)
NONE(int, memspan_symmetric_space_detach, shmemx_space_t space)
NONE(int, memspan_symmetric_space_destroy, shmemx_space_t space)
NONE(int, memspan_symmetric_space_partition, shmemx_space_t space)
NONE(shmemx_space_t, memspan_symmetric_space_of, int partition)
NONE(const shmemx_space_config_t *, memspan_symmetric_space_config, shmemx_space_t space)
NONE(int, memspan_buffer_register, void *address, size_t size_bytes)
NONE(int, memspan_buffer_unregister, void *address)
NONE(void, memspan_buffer_unregister_all, void)
NONE(void *, memspan_buffer_register_symmetric, void *address, size_t size_bytes)
NONE(int, memspan_buffer_unregister_symmetric, void *address, size_t size_bytes)
NONE(int, memspan_partition_use_external, void *base, size_t size_bytes, int type, int index)
NONE(void, memspan_remote_put, const struct memspan_segment *segment,
     const struct memspan_context *context, void *dest, const void *source, size_t size_bytes,
     int pe)
NONE(void, memspan_remote_get, const struct memspan_segment *segment,
     const struct memspan_context *context, void *dest, const void *source, size_t size_bytes,
     int pe)
NONE(uint64_t, memspan_remote_atomic, const struct memspan_segment *segment,
     const struct memspan_context *context, enum memspan_atomic operation, const void *dest,
     size_t size_bytes, uint64_t value, uint64_t condition, int pe)
NONE(void, memspan_remote_order, const struct memspan_context *context, bool completes)
NONE(bool, memspan_remote_load, const void *ivar, size_t size_bytes, uint64_t *value_p)
NONE(memspan_status_t, memspan_remote_serve, int segment, unsigned number)
NONE(void, memspan_remote_retire, int segment)
INTERIM void memspan_remote_close(void)
{
}
