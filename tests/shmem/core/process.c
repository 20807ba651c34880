/* SPDX-License-Identifier: BSD-3-Clause */
/* process.c [JOBS]: the process around the job: variables stay private to children of fork(),
 * programs that are started by it do not matter, and a job can end and begin again. */

#include "tests/shmem/check.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static long variable = 1;
static char large[8 << 20]; /* never touched but for its ends */

static void fork_keeps_variables_apart(void)
{
    int status = -1;
    pid_t child;

    variable = 2;
    large[0] = 3;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        int bad = (variable != 2) || (large[0] != 3) || (large[sizeof large - 1] != 0);

        variable = 99;
        large[0] = 99;
        _exit(bad);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "fork");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child saw other values: %d", status);
    CHECK(variable == 2 && large[0] == 3, "the child's values are seen: %ld", variable);
    CHECK(system("true") == 0, "a shell");
}

/* In a child there is no PE; saying so must end the child alone. */
static void child_is_no_pe(void)
{
    int status = -1;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        shmem_long_p(&variable, 5, 0);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "fork");
    CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0, "a put in a child was taken");
}

static void once(long round)
{
    int me;
    int count;
    long *heap;

    shmem_init();
    me    = shmem_my_pe();
    count = shmem_n_pes();
    CHECK(variable == round, "round %ld finds %ld", round, variable);
    heap = shmem_calloc(4, sizeof *heap);
    shmem_long_atomic_add(&heap[1], me + 1, 0);
    shmem_barrier_all();
    CHECK(shmem_long_g(&heap[1], 0) == (long)count * (count + 1) / 2, "sum");
    fork_keeps_variables_apart();
    child_is_no_pe();
    shmem_barrier_all();
    shmem_long_p(&variable, round + 1, (me + 1) % count);
    shmem_finalize();
    if (variable != round + 1) {
        fprintf(stderr, "after round %ld: %ld\n", round, variable);
        exit(1);
    }
}

int main(int count, char **words)
{
    long jobs = (count > 1) ? atol(words[1]) : 3;
    long i;

    for (i = 1; i <= jobs; i++) {
        once(i);
    }
    return 0;
}
