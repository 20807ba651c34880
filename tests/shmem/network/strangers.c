/* SPDX-License-Identifier: BSD-3-Clause */
/* strangers.c FOLDER: a job that others connect to (strangers.py). It says in FOLDER that it is up,
 * works until FOLDER/end is there, and then compares its memory and its descriptors with what they
 * must be. */

#include "tests/shmem/check.h"
#include <dirent.h>
#include <shmem.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { DESCRIPTORS_MORE = 2, WAIT_S = 20 };

static long untouched[64];
static long counter;
static long stop;

static int count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count   = 0;

    while ((folder != NULL) && (readdir(folder) != NULL)) {
        count++;
    }
    closedir(folder);
    return count;
}

static void say_up(const char *folder, int pe)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/pe%d", folder, pe);
    file = fopen(path, "w");
    CHECK(file != NULL, "%s", path);
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
}

int main(int argc, char **argv)
{
    long rounds = 0;
    long last   = 0;
    time_t until;
    char end[512];
    int descriptors;
    int me;
    int i;

    shmem_init();
    me = shmem_my_pe();
    snprintf(end, sizeof end, "%s/end", (argc > 1) ? argv[1] : ".");
    shmem_long_atomic_inc(&counter, (me + 1) % shmem_n_pes());
    shmem_barrier_all();
    rounds++;
    descriptors = count_descriptors();
    say_up((argc > 1) ? argv[1] : ".", me);
    while ((last == 0) || (rounds < last)) {
        shmem_long_atomic_inc(&counter, (me + 1) % shmem_n_pes());
        if ((me == 0) && (last == 0) && (access(end, F_OK) == 0)) {
            for (i = 0; i < shmem_n_pes(); i++) {
                shmem_long_atomic_set(&stop, rounds + 2, i); /* seen by all in the next round */
            }
        }
        shmem_barrier_all();
        rounds++;
        last = shmem_long_atomic_fetch(&stop, me);
    }
    CHECK(counter == rounds, "%ld of %ld", counter, rounds);
    for (i = 0; i < 64; i++) {
        CHECK(untouched[i] == 0, "word %d is %lx", i, (unsigned long)untouched[i]);
    }
    until = time(NULL) + WAIT_S;
    while ((count_descriptors() > descriptors + DESCRIPTORS_MORE) && (time(NULL) < until)) {
        (void)shmem_long_atomic_fetch(&counter, (me + 1) % shmem_n_pes());
        usleep(10000);
    }
    CHECK(count_descriptors() <= descriptors + DESCRIPTORS_MORE, "%d descriptors, %d before",
          count_descriptors(), descriptors);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
