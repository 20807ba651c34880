/* SPDX-License-Identifier: BSD-3-Clause */
/* closed.c: pages of static data that the program has protected or closed before shmem_init() stay
 * so in the job, in children and after shmem_finalize(), with their contents. System calls report a
 * page that they cannot read or write, without a signal. */

#include "tests/shmem/check.h"
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE_MAX = 64 << 10, GUARD_INSTALL = 102, GUARD_REMOVE = 103 };

enum place {
    FREE,
    CLOSED_UNTOUCHED,
    CLOSED_TOUCHED,
    READ_ONLY,
    GUARDED,
    RUNNABLE,
    PLACES,
};

static _Alignas(PAGE_MAX) char zeros[PLACES][PAGE_MAX];
static _Alignas(PAGE_MAX) char values[PLACES][PAGE_MAX] = {
    {1}, {2}, {3}, {4}, {5}, {6},
};
static bool has_guards;
static int ends[2];

static bool can_read(const char *page)
{
    char byte;
    bool can = (write(ends[1], page, 1) == 1);

    return can && (read(ends[0], &byte, 1) == 1);
}

static bool can_write(char *page)
{
    static const char zero = 0;
    char byte;

    if (write(ends[1], &zero, 1) != 1) {
        return false;
    }
    return (read(ends[0], page + 1, 1) == 1) || (read(ends[0], &byte, 1) != 1);
}

/* 0, or the number of the place that has not the rights it should have. */
static int wrong_place(char (*pages)[PAGE_MAX])
{
    static const bool reads[PLACES]  = {true, false, false, true, false, true};
    static const bool writes[PLACES] = {true, false, false, false, false, true};
    int i;

    for (i = 0; i < PLACES; i++) {
        bool counts = (i != GUARDED) || has_guards;

        if (counts && ((can_read(pages[i]) != reads[i]) || (can_write(pages[i]) != writes[i]))) {
            return i + 1;
        }
    }
    return 0;
}

static void expect_closed(const char *when)
{
    int zero  = wrong_place(zeros);
    int value = wrong_place(values);

    if ((zero != 0) || (value != 0)) {
        fprintf(stderr, "%s: place %d of zeros, %d of values has other rights\n", when, zero - 1,
                value - 1);
        exit(1);
    }
}

static void close_pages(char (*pages)[PAGE_MAX])
{
    pages[CLOSED_TOUCHED][0] = 'c';
    pages[READ_ONLY][0]      = 'r';
    if ((mprotect(pages[CLOSED_UNTOUCHED], PAGE_MAX, PROT_NONE) != 0) ||
        (mprotect(pages[CLOSED_TOUCHED], PAGE_MAX, PROT_NONE) != 0) ||
        (mprotect(pages[READ_ONLY], PAGE_MAX, PROT_READ) != 0) ||
        (mprotect(pages[RUNNABLE], PAGE_MAX, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)) {
        perror("mprotect");
        exit(1);
    }
}

static void in_a_child(void)
{
    int status  = -1;
    pid_t child = fork();

    if (child == 0) {
        expect_closed("in a child");
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child's status is %d", status);
}

/* What is opened later has its contents, and is symmetric. */
static void open_one(void)
{
    int me = shmem_my_pe();

    CHECK(mprotect(zeros[CLOSED_TOUCHED], PAGE_MAX, PROT_READ | PROT_WRITE) == 0, "mprotect");
    CHECK(zeros[CLOSED_TOUCHED][0] == 'c' && zeros[READ_ONLY][0] == 'r', "contents");
    shmem_barrier_all();
    shmem_char_p(&zeros[CLOSED_TOUCHED][2], (char)(me + 1), (me + 1) % shmem_n_pes());
    shmem_barrier_all();
    CHECK(zeros[CLOSED_TOUCHED][2] == ((me + shmem_n_pes() - 1) % shmem_n_pes()) + 1, "a put");
    CHECK(mprotect(zeros[CLOSED_TOUCHED], PAGE_MAX, PROT_NONE) == 0, "mprotect");
}

static bool opens(char (*pages)[PAGE_MAX])
{
    return (mprotect(pages, (size_t)PLACES * PAGE_MAX, PROT_READ | PROT_WRITE) == 0) &&
           (!has_guards ||
            ((madvise(pages[GUARDED], PAGE_MAX, GUARD_REMOVE) == 0) && can_write(pages[GUARDED])));
}

int main(void)
{
    if (pipe(ends) != 0) {
        return 1;
    }
    /* Its file's pages cannot be guard regions everywhere. */
    has_guards = (madvise(zeros[GUARDED], PAGE_MAX, GUARD_INSTALL) == 0) &&
                 (madvise(values[GUARDED], PAGE_MAX, GUARD_INSTALL) == 0);
    if (!has_guards) {
        (void)madvise(zeros[GUARDED], PAGE_MAX, GUARD_REMOVE);
    }
    close_pages(zeros);
    close_pages(values);
    expect_closed("before");
    shmem_init();
    expect_closed("after shmem_init");
    in_a_child();
    open_one();
    shmem_finalize();
    expect_closed("after shmem_finalize");
    /* Open again for a leak checker, which reads all of them at the end. */
    return (opens(zeros) && opens(values) && (values[CLOSED_TOUCHED][0] == 'c') &&
            (values[FREE][0] == 1))
               ? 0
               : 1;
}
