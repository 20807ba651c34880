/* SPDX-License-Identifier: BSD-3-Clause */
/* found.c: blocks that the next job finds. "make" makes them, "again" finds them, changes some and
 * takes some away, "last" finds that; found.sh runs them one after the other. */

#include "tests/shmem/check.h"
#include <memspan/memspan.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITION = 2, SMALL = 24, LARGE = 100000 };

static long *find(const char *symbol, size_t expected)
{
    size_t size = 0;
    long *block = shmemx_persistent_find(PARTITION, symbol, &size);

    CHECK(block != NULL, "%s: %s", symbol, memspan_error_text());
    CHECK(size == expected, "%s has %zu bytes, not %zu", symbol, size, expected);
    CHECK(shmemx_partition_of(block) == PARTITION, "%s is elsewhere", symbol);
    return block;
}

static void refused(int status, memspan_status_t expected, const char *words)
{
    CHECK(status == (int)expected, "%d instead of %d: %s", status, (int)expected,
          memspan_error_text());
    CHECK((words == NULL) || (strstr(memspan_error_text(), words) != NULL), "\"%s\" is not in: %s",
          words, memspan_error_text());
}

static void check_info(size_t generation, int named)
{
    shmemx_partition_info_t info = {.struct_size = sizeof info};

    CHECK(shmemx_partition_info(PARTITION, &info) == 0, "%s", memspan_error_text());
    CHECK(info.kind == SHMEMX_KIND_PMEM, "kind %d", (int)info.kind);
    CHECK(info.generation == generation, "generation %zu", info.generation);
    CHECK(info.named_count == named, "%d named", info.named_count);
    CHECK(strcmp(info.persistent_name, "found") == 0, "%s", info.persistent_name);
    CHECK((info.persistence == SHMEMX_PERSISTENCE_FILE) ||
              (info.persistence == SHMEMX_PERSISTENCE_MEMORY),
          "strength %d", info.persistence);
    CHECK(info.persistence_note[0] != '\0', "no note");
    CHECK(shmemx_partition_info(1, &info) == 0, "%s", memspan_error_text());
    CHECK((info.persistence == SHMEMX_PERSISTENCE_NONE) && (info.generation == 0), "partition 1");
}

/* Every PE has the value of the one before it. */
static void put_round(long *block, long value)
{
    int next = (shmem_my_pe() + 1) % shmem_n_pes();

    value += shmem_my_pe();
    shmem_long_put(block, &value, 1, next);
    shmem_barrier_all();
}

static void check_round(const long *block, long value)
{
    int before = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();

    CHECK(*block == value + before, "%ld instead of %ld", *block, value + before);
}

static void make(void)
{
    char *gap   = shmemx_partition_malloc(5000, PARTITION);
    long *small = shmemx_partition_malloc(SMALL, PARTITION);
    long *large = shmemx_partition_align(4096, LARGE, PARTITION);
    long *freed = shmemx_partition_malloc(SMALL, PARTITION);
    long *other = shmem_malloc(SMALL);

    check_info(1, 0);
    CHECK(gap && small && large && freed && other, "%s", memspan_error_text());
    CHECK(shmemx_persistent_find(PARTITION, "small", NULL) == NULL, "it is there");
    put_round(small, 1000);
    put_round(&large[LARGE / 8 - 1], 2000);
    CHECK(shmemx_persistent_name(small, "small") == 0, "%s", memspan_error_text());
    CHECK(shmemx_persistent_name(large, "large") == 0, "%s", memspan_error_text());
    CHECK(shmemx_persistent_name(freed, "freed") == 0, "%s", memspan_error_text());
    refused(shmemx_persistent_name(gap, "small"), MEMSPAN_ERR_CONFLICT, "block small already");
    refused(shmemx_persistent_name(small, "two"), MEMSPAN_ERR_CONFLICT, "is small already");
    refused(shmemx_persistent_name(gap, ""), MEMSPAN_ERR_INVALID, "47 bytes");
    refused(shmemx_persistent_name(gap + 256, "inner"), MEMSPAN_ERR_INVALID, "no block begins");
    refused(shmemx_persistent_name(other, "other"), MEMSPAN_ERR_INVALID, "no persistent");
    refused(shmemx_persistent_unname(PARTITION, "missing"), MEMSPAN_ERR_NOT_FOUND, "missing");
    refused(shmemx_persistent_unname(9, "small"), MEMSPAN_ERR_NOT_FOUND, "no partition 9");
    refused(shmemx_persistent_unname(1, "small"), MEMSPAN_ERR_INVALID, "no persistent");
    refused(shmemx_persist(other, 8), MEMSPAN_ERR_INVALID, "no persistent");
    refused(shmemx_persist(small, (size_t)1 << 40), MEMSPAN_ERR_INVALID, "not within");
    if (shmem_n_pes() > 1) {
        refused(shmemx_persistent_name(gap, (shmem_my_pe() == 0) ? "x" : "y"), MEMSPAN_ERR_CONFLICT,
                "differ");
        refused(shmemx_persistent_name((shmem_my_pe() == 0) ? gap : gap + 256, "x"),
                (shmem_my_pe() == 0) ? MEMSPAN_ERR_CONFLICT : MEMSPAN_ERR_INVALID, NULL);
    }
    CHECK(shmem_realloc(small, 2 * SMALL) == NULL, "a named block was moved");
    CHECK(strstr(memspan_error_text(), "small") != NULL, "%s", memspan_error_text());
    shmem_free(freed);
    check_info(1, 2);
}

/* Found blocks are not free; others are. */
static void check_heap(const char *small, const char *large)
{
    char *taken[64];
    int count = 0;

    while ((count < 64) && ((taken[count] = shmemx_partition_malloc(40000, PARTITION)) != NULL)) {
        CHECK((taken[count] + 40000 <= large) || (taken[count] >= large + LARGE), "in large");
        CHECK((taken[count] + 40000 <= small) || (taken[count] >= small + SMALL), "in small");
        memset(taken[count], 0x55, 40000);
        count++;
    }
    CHECK(count > 10, "only %d blocks: what the last job did not name is lost", count);
    while (count-- > 0) {
        shmem_free(taken[count]);
    }
}

static void again(void)
{
    long *small = find("small", SMALL);
    long *large = find("large", LARGE);

    check_info(2, 2);
    CHECK(((uintptr_t)large & 4095) == 0, "its boundary is lost");
    CHECK(shmemx_persistent_find(PARTITION, "freed", NULL) == NULL, "it was freed");
    check_round(small, 1000);
    check_round(&large[LARGE / 8 - 1], 2000);
    shmem_barrier_all();
    check_heap((char *)small, (char *)large);
    check_round(small, 1000);
    check_round(&large[LARGE / 8 - 1], 2000);
    shmem_barrier_all();
    put_round(small, 3000);
    CHECK(shmemx_persist(small, SMALL) == 0, "%s", memspan_error_text());
    CHECK(shmemx_persistent_unname(PARTITION, "large") == 0, "%s", memspan_error_text());
    CHECK(shmem_realloc(large, LARGE / 2) != NULL, "%s", memspan_error_text());
    shmem_free(large);
}

static void last(void)
{
    check_info(3, 1);
    check_round(find("small", SMALL), 3000);
    CHECK(shmemx_persistent_find(PARTITION, "large", NULL) == NULL, "it was taken away");
}

int main(int count, char **arguments)
{
    const char *what = (count > 1) ? arguments[1] : "";

    shmem_init();
    if (strcmp(what, "make") == 0) {
        make();
    } else if (strcmp(what, "again") == 0) {
        again();
    } else if (strcmp(what, "last") == 0) {
        last();
    } else if (strcmp(what, "space") == 0) {
        shmemx_space_config_t config = {.struct_size = sizeof config,
                                        .size        = 4096,
                                        .kind        = SHMEMX_KIND_PMEM,
                                        .policy      = SHMEMX_POLICY_MANDATORY};
        shmemx_space_t space;

        CHECK(shmemx_space_create(SHMEM_TEAM_WORLD, &config, &space) != 0, "a space");
        CHECK(strstr(memspan_error_text(), "no path") != NULL, "%s", memspan_error_text());
    } else if (strcmp(what, "hold") == 0) {
        CHECK(system(arguments[2]) == 0, "%s", arguments[2]);
    }
    shmem_finalize();
    return 0;
}
