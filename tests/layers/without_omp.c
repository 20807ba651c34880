/* SPDX-License-Identifier: BSD-3-Clause */
/* The library without core/omp, whose calls are weak references (core/base/omp_hook.h). */

#include <memspan/memspan.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(truth)                                                                               \
    if (!(truth)) {                                                                                \
        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #truth);                                \
        return 1;                                                                                  \
    }

static int use(const memspan_trait_t *traits, size_t count)
{
    memspan_allocator_h allocator;
    char *block;

    CHECK(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, count, &allocator) == MEMSPAN_OK);
    block = memspan_alloc(allocator, 1000);
    CHECK(block != NULL);
    memset(block, 1, 1000);
    CHECK(memspan_free(block) == MEMSPAN_OK);
    CHECK(memspan_allocator_destroy(allocator) == MEMSPAN_OK);
    return 0;
}

int main(void)
{
    const memspan_trait_t team[]    = {{MEMSPAN_TRAIT_POOL_SIZE, 1 << 20},
                                       {MEMSPAN_TRAIT_ACCESS, MEMSPAN_VALUE_PTEAM}};
    const memspan_trait_t divided[] = {{MEMSPAN_TRAIT_PARTITIONER, 4096}};
    memspan_allocator_h none;
    void *block = memspan_alloc(MEMSPAN_ALLOCATOR_NULL, 64);
    int status  = 1;
    pid_t child;

    CHECK(block != NULL);
    CHECK(use(NULL, 0) == 0);
    CHECK(use(team, 2) == 0);
    CHECK(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, divided, 1, &none) ==
          MEMSPAN_ERR_INVALID);
    CHECK(memspan_alloc((memspan_allocator_h)100, 64) == NULL);
    child = fork();
    if (child == 0) {
        _exit(use(team, 2));
    }
    CHECK((waitpid(child, &status, 0) == child) && (status == 0));
    CHECK(memspan_free(block) == MEMSPAN_OK);
    return 0;
}
