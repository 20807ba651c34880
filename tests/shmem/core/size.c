/* SPDX-License-Identifier: BSD-3-Clause */
/* The symmetric heap has at least SHMEM_SYMMETRIC_SIZE bytes (1.5, section 8), and a space its
 * size: one block of all of them is served, whatever their number is. */

#include "tests/shmem/check.h"
#include <memspan/memspan.h>
#include <shmemx.h>
#include <stdlib.h>

enum { BYTES = 1000001 };

static void check_space(void)
{
    shmemx_space_config_t config = {.struct_size = sizeof config, .size = BYTES};
    shmemx_space_t space;
    void *block;

    CHECK(shmemx_space_create(SHMEM_TEAM_WORLD, &config, &space) == 0, "%s", memspan_error_text());
    block = shmemx_space_malloc(space, BYTES);
    CHECK(block != NULL, "%s", memspan_error_text());
}

int main(void)
{
    void *block;

    CHECK(setenv("SHMEM_SYMMETRIC_SIZE", "1000001", 1) == 0, "no variable");
    shmem_init();
    block = shmem_malloc(BYTES);
    CHECK(block != NULL, "%s", memspan_error_text());
    shmem_free(block);
    check_space();
    shmem_finalize();
    return 0;
}
