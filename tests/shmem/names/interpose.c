/* SPDX-License-Identifier: BSD-3-Clause */
/* interpose.c: a program that is its own profiling tool: routines that it defines are called in
 * place of the library's, by typed names and by macros, and lead to the library's by their second
 * names; the library itself never calls them. */

#include "tests/shmem/check.h"
#include <pshmem.h>
#include <shmemx.h>
#include <string.h>

static int puts_seen;
static int barriers_seen;
static int syncs_seen;
static int adds_seen;

void shmem_putmem(void *dest, const void *source, size_t nelems, int pe)
{
    puts_seen++;
    pshmem_putmem(dest, source, nelems, pe);
}

void shmem_long_p(long *dest, long value, int pe)
{
    puts_seen++;
    pshmem_long_p(dest, value, pe);
}

void shmem_barrier_all(void)
{
    barriers_seen++;
    pshmem_barrier_all();
}

/* A macro has this name, too. */
void(shmem_sync)(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    syncs_seen++;
    pshmem_sync(PE_start, logPE_stride, PE_size, pSync);
}

void shmem_ctx_long_atomic_add(shmem_ctx_t ctx, long *dest, long value, int pe)
{
    adds_seen++;
    pshmem_ctx_long_atomic_add(ctx, dest, value, pe);
}

static char text[64];
static long number;
static long sync_words[SHMEM_SYNC_SIZE];

int main(void)
{
    int next;
    void *block;

    shmem_init();
    next = (shmem_my_pe() + 1) % shmem_n_pes();

    shmem_putmem(text, "one word", 9, next);
    shmem_p(&number, 40L, next);
    CHECK(puts_seen == 2, "%d puts were seen", puts_seen);
    shmem_quiet();
    shmem_barrier_all();
    CHECK(strcmp(text, "one word") == 0, "it says %s", text);
    shmem_atomic_add(SHMEM_CTX_DEFAULT, &number, 2L, next);
    CHECK(adds_seen == 1, "%d adds were seen", adds_seen);
    shmem_barrier_all();
    CHECK(number == 42, "it is %ld", number);

    shmem_sync(0, 0, shmem_n_pes(), sync_words);
    CHECK(syncs_seen == 1, "%d syncs were seen", syncs_seen);

    /* These have barriers inside. */
    block = shmem_malloc(64);
    CHECK(block != NULL, "there is no memory");
    shmem_free(block);
    CHECK(barriers_seen == 2, "%d barriers were seen", barriers_seen);
    shmem_pcontrol(2, "all of it");
    shmem_finalize();
    return 0;
}
