/* SPDX-License-Identifier: BSD-3-Clause */
/* query.c: what is said of partitions, with numbers 1, 7 and 23 set by the test. */

#include "tests/shmem/check.h"
#include <memspan/status.h>
#include <shmemx.h>
#include <string.h>

static void look_at_the_list(void)
{
    int ids[8] = {-1, -1, -1, -1, -1, -1, -1, -1};

    CHECK(shmemx_partition_count() == 3, "%d", shmemx_partition_count());
    CHECK(shmemx_partition_ids(ids, 2) == 3, "not all are counted");
    CHECK((ids[0] == 1) && (ids[1] == 7) && (ids[2] == -1), "%d %d %d", ids[0], ids[1], ids[2]);
    CHECK(shmemx_partition_ids(ids, 8) == 3, "not all are counted");
    CHECK(ids[2] == 23, "%d", ids[2]);
    CHECK(shmemx_partition_ids(NULL, 0) == 3, "not all are counted");
}

static void look_at_one(void)
{
    shmemx_partition_info_t before = {.struct_size = sizeof before};
    shmemx_partition_info_t after  = {.struct_size = sizeof after};
    char *block;

    CHECK(shmemx_partition_info(7, &before) == 0, "%s", memspan_error_text());
    CHECK((before.id == 7) && !before.is_default, "%d", before.id);
    CHECK(before.size_bytes == 2 << 20, "%zu", before.size_bytes);
    CHECK(before.kind_asked == SHMEMX_KIND_NORMALMEM, "%d", (int)before.kind_asked);
    CHECK(before.policy == SHMEMX_POLICY_PREFERRED, "%d", (int)before.policy);
    CHECK(before.device == -1, "%d", before.device);
    CHECK((before.remote[0] != '\0') == (shmem_team_n_pes(SHMEM_TEAM_SHARED) < shmem_n_pes()), "%s",
          before.remote);
    CHECK(before.team == SHMEM_TEAM_WORLD, "%p", (void *)before.team);
    CHECK(strcmp(shmemx_partition_name(7), "SHMEM_SYMMETRIC_PARTITION7") == 0, "%s",
          shmemx_partition_name(7));
    block = shmemx_partition_malloc(1 << 20, 7);
    CHECK(block != NULL, "%s", memspan_error_text());
    CHECK(shmemx_partition_info(7, &after) == 0, "%s", memspan_error_text());
    CHECK(after.used_bytes >= before.used_bytes + (1 << 20), "%zu", after.used_bytes);
    CHECK(after.largest_bytes < before.largest_bytes, "%zu", after.largest_bytes);
    CHECK((block >= (char *)after.base) && (block < (char *)after.base + after.size_bytes), "%p",
          (void *)block);
    CHECK(shmemx_partition_of(block + 100) == 7, "%d", shmemx_partition_of(block + 100));
    CHECK(shmemx_partition_malloc(2 << 20, 7) == NULL, "more than there is");
    CHECK(strstr(memspan_error_text(), "SHMEM_SYMMETRIC_PARTITION7") != NULL, "%s",
          memspan_error_text());
    shmemx_partition_free(block);
    CHECK(shmemx_partition_info(7, &after) == 0, "%s", memspan_error_text());
    CHECK(after.used_bytes == before.used_bytes, "%zu", after.used_bytes);
}

static void look_at_none(void)
{
    shmemx_partition_info_t info = {.struct_size = sizeof info};
    static int global;
    int local;

    CHECK(shmemx_partition_info(2, &info) != 0, "there is none");
    CHECK(shmemx_partition_info(-1, &info) != 0, "there is none");
    CHECK(shmemx_partition_info(1 << 30, &info) != 0, "there is none");
    CHECK(shmemx_partition_name(2) == NULL, "there is none");
    CHECK(shmemx_partition_malloc(8, 2) == NULL, "there is none");
    CHECK(shmemx_partition_malloc(8, -5) == NULL, "there is none");
    CHECK(shmemx_partition_of(&local) == SHMEMX_PARTITION_NONE, "%d", shmemx_partition_of(&local));
    CHECK(shmemx_partition_of(&global) == SHMEMX_PARTITION_STATIC, "%d",
          shmemx_partition_of(&global));
    CHECK(shmemx_name_to_index("7") == 7, "by its number");
    CHECK(shmemx_name_to_index("SMA_SYMMETRIC_PARTITION23") == 23, "by its name");
    CHECK(shmemx_name_to_index("nothing") == -1, "there is none");
    CHECK(shmemx_name_to_index("7x") == -1, "there is none");
}

int main(void)
{
    shmem_init();
    look_at_the_list();
    look_at_one();
    look_at_none();
    shmem_finalize();
    return 0;
}
