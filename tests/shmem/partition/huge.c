/* SPDX-License-Identifier: BSD-3-Clause */
/* huge.c WHAT: huge pages of symmetric blocks. Where the kernel has none, it says why (a skip). */

#include "tests/shmem/check.h"
#include <memspan/status.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANGE_BYTES = 2 << 20, RANGES = 8, BLOCK_BYTES = RANGES * RANGE_BYTES };

static shmemx_partition_info_t info_of(const void *block)
{
    shmemx_partition_info_t info = {.struct_size = sizeof info};

    CHECK(shmemx_partition_info(shmemx_partition_of(block), &info) == 0, "%s",
          memspan_error_text());
    return info;
}

/* Bytes of the mapping that holds @p address that huge pages map. */
static long mapped_huge(const void *address)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long first;
    unsigned long end;
    bool is_it = false;
    long bytes = -1;
    long kb;

    CHECK(maps != NULL, "no /proc/self/smaps");
    while (fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx ", &first, &end) == 2) {
            is_it = ((unsigned long)address >= first) && ((unsigned long)address < end);
        } else if (is_it && (sscanf(line, "ShmemPmdMapped: %ld kB", &kb) == 1)) {
            bytes = kb * 1024;
        }
    }
    fclose(maps);
    return bytes;
}

/* Whether the kernel makes a huge page of a shared file, by itself. */
static bool kernel_collapses(void)
{
    int fd       = memfd_create("huge", MFD_CLOEXEC);
    char *memory = (ftruncate(fd, 2 * RANGE_BYTES) == 0)
                       ? mmap(NULL, 2 * RANGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : MAP_FAILED;
    char *range  = memory + RANGE_BYTES - ((uintptr_t)memory % RANGE_BYTES);
    bool done;

    CHECK(memory != MAP_FAILED, "no memory");
    CHECK(mmap(range, RANGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == range,
          "no mapping");
    memset(range, 1, RANGE_BYTES);
    done = (madvise(range, RANGE_BYTES, 25 /* MADV_COLLAPSE */) == 0);
    close(fd);
    return done;
}

static void skip_unless_collapsed(const char *block)
{
    if (!kernel_collapses()) {
        printf("PE %d: the kernel makes no huge pages of shared files: %s\n", shmem_my_pe(),
               info_of(block).huge_pages);
        fflush(stdout);
        shmem_barrier_all();
        shmem_finalize();
        exit(77);
    }
}

/* Then the program's first touch decides where a block is. */
static bool has_nodes(void)
{
    return access("/sys/devices/system/node/node1", F_OK) == 0;
}

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t pages_in_memory(char *block, size_t bytes)
{
    static unsigned char held[BLOCK_BYTES / 4096];
    size_t count = 0;
    size_t i;

    CHECK(mincore(block, bytes, held) == 0, "mincore");
    for (i = 0; i < bytes / page_bytes(); i++) {
        count += held[i] & 1;
    }
    return count;
}

static void write_bytes(char *block, size_t bytes)
{
    size_t i;

    for (i = 0; i < bytes; i++) {
        block[i] = (char)check_byte((uint64_t)shmem_my_pe(), i);
    }
}

static void check_bytes(const char *block, int pe, size_t bytes)
{
    size_t i;

    for (i = 0; i < bytes; i++) {
        CHECK(block[i] == (char)check_byte((uint64_t)pe, i), "byte %zu of PE %d", i, pe);
    }
}

/* Copies and windows lie on the same boundary, so huge pages can map both. */
static void aligned(void)
{
    char *block = shmem_malloc(BLOCK_BYTES);
    int pe;

    for (pe = 0; pe < shmem_n_pes(); pe++) {
        const char *peer = shmem_ptr(block, pe);

        CHECK((peer == NULL) || ((uintptr_t)(peer - block) % RANGE_BYTES == 0),
              "PE %d's copy of %p is mapped at %p", pe, (void *)block, (const void *)peer);
    }
    shmem_free(block);
}

/* Barriers, as many in every PE, until some of every PE's copy is huge: a share of the time that
 * goes by is spent on that, and memory in pieces may be left as it is. */
static void wait_until_huge(const char *block)
{
    static long mine;
    static long all;

    do {
        shmem_barrier_all();
        mine = (info_of(block).huge_bytes >= RANGE_BYTES);
        shmem_long_min_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
    } while (!all);
}

/* What was filled becomes huge at barriers, with its bytes, for the other PEs, too. The second
 * block is so when it is allocated. */
static void filled(void)
{
    char *block = shmem_malloc(BLOCK_BYTES);
    int next    = (shmem_my_pe() + 1) % shmem_n_pes();
    char *second;
    const char *peer;
    char last;
    pid_t child;
    int status;

    skip_unless_collapsed(block);
    CHECK(info_of(block).huge_bytes == 0, "%zu", info_of(block).huge_bytes);
    write_bytes(block, BLOCK_BYTES);
    wait_until_huge(block);
    CHECK(mapped_huge(block) > 0, "no huge page: %s", info_of(block).huge_pages);
    check_bytes(block, shmem_my_pe(), BLOCK_BYTES);
    peer = shmem_ptr(block, next);
    if (peer != NULL) {
        check_bytes(peer, next, BLOCK_BYTES);
        CHECK(mapped_huge(peer) > 0, "PE %d's huge pages are mapped as base pages", next);
    }
    last  = block[BLOCK_BYTES - 1];
    child = fork();
    if (child == 0) {
        _exit((block[BLOCK_BYTES - 1] == last) ? 0 : 1);
    }
    CHECK((waitpid(child, &status, 0) == child) && (status == 0), "the child: %x", status);
    second = shmem_malloc(BLOCK_BYTES / 2);
    CHECK((pages_in_memory(second, BLOCK_BYTES / 2) >= RANGE_BYTES / page_bytes()) || has_nodes(),
          "untouched, the second block has %zu pages", pages_in_memory(second, BLOCK_BYTES / 2));
    shmem_free(second);
    shmem_free(block);
}

/* Touched here and there, a block stays so. */
static void sparse(void)
{
    char *block = shmem_malloc(BLOCK_BYTES);
    size_t most = BLOCK_BYTES / page_bytes() / 2;
    size_t i;

    for (i = 0; i < RANGES; i++) {
        memset(block + i * RANGE_BYTES, 1, (size_t)RANGE_BYTES / 2);
    }
    for (i = 0; i < 100; i++) {
        shmem_barrier_all();
    }
    CHECK(info_of(block).huge_bytes == 0, "%zu bytes became huge", info_of(block).huge_bytes);
    CHECK(pages_in_memory(block, BLOCK_BYTES) == most, "%zu pages of %zu are in memory",
          pages_in_memory(block, BLOCK_BYTES), most);
    shmem_free(block);
}

static long fault_count(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return use.ru_minflt;
}

/* Base pages would be a fault each. Some ranges may have stayed so. */
static bool clears_without_faults(char *block, long before)
{
    memset(block, 0, BLOCK_BYTES);
    return (size_t)(fault_count() - before) < BLOCK_BYTES / page_bytes() / 2;
}

/* shmem_calloc() fills all of it, so it is huge before. With SHMEMX_HUGE_PAGES=on all blocks are.
 */
static void at_once(bool clears)
{
    long before = fault_count();
    char *block = clears ? shmem_calloc(BLOCK_BYTES, 1) : shmem_malloc(BLOCK_BYTES);
    size_t i;

    before -= fault_count();
    skip_unless_collapsed(block);
    before += fault_count();
    CHECK(info_of(block).huge_bytes > 0, "%zu: %s", info_of(block).huge_bytes,
          info_of(block).huge_pages);
    CHECK(mapped_huge(block) > 0, "no huge page");
    CHECK(clears_without_faults(block, before), "%ld faults", fault_count() - before);
    for (i = 0; i < BLOCK_BYTES; i++) {
        CHECK(block[i] == 0, "byte %zu is not clear", i);
    }
    shmem_free(block);
}

static void off(void)
{
    char *block = shmem_calloc(BLOCK_BYTES, 1);
    int i;

    for (i = 0; i < 100; i++) {
        shmem_barrier_all();
    }
    CHECK(info_of(block).huge_bytes == 0, "%zu", info_of(block).huge_bytes);
    CHECK(mapped_huge(block) == 0, "huge pages");
    CHECK(strcmp(info_of(block).huge_pages, "no: SHMEMX_HUGE_PAGES=off") == 0, "%s",
          info_of(block).huge_pages);
    shmem_free(block);
}

int main(int argc, char **argv)
{
    const char *what = (argc == 2) ? argv[1] : "";

    shmem_init();
    if (strcmp(what, "aligned") == 0) {
        aligned();
    } else if (strcmp(what, "filled") == 0) {
        filled();
    } else if (strcmp(what, "sparse") == 0) {
        sparse();
    } else if (strcmp(what, "cleared") == 0) {
        at_once(true);
    } else if (strcmp(what, "on") == 0) {
        at_once(false);
    } else {
        CHECK(strcmp(what, "off") == 0, "huge WHAT");
        off();
    }
    shmem_finalize();
    return 0;
}
