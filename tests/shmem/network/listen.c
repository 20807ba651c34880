/* SPDX-License-Identifier: BSD-3-Clause */
/* listen.c: a job of one machine listens on its loopback interface alone, and has no shared memory
 * of UCX's. Each PE has been in touch with all; then it looks at its sockets and its mappings. */

#include "tests/shmem/check.h"
#include "tests/shmem/network/sockets.h"
#include <shmem.h>

static long word;

/* Those of UCX's transports posix and sysv. */
static void refuse_shared_memory(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];

    while ((maps != NULL) && (fgets(line, sizeof line, maps) != NULL)) {
        CHECK((strstr(line, "/ucx_shm_") == NULL) && (strstr(line, "/SYSV") == NULL), "%s", line);
    }
    if (maps != NULL) {
        fclose(maps);
    }
}

int main(void)
{
    struct sockets listening;
    int pe;

    shmem_init();
    for (pe = 0; pe < shmem_n_pes(); pe++) {
        shmem_long_atomic_inc(&word, pe);
    }
    shmem_barrier_all();
    CHECK(word == shmem_n_pes(), "%ld", word);
    listening = sockets_that_listen();
    CHECK(listening.on_loopback > 0, "it listens nowhere");
    CHECK(listening.elsewhere == 0, "%d sockets listen elsewhere", listening.elsewhere);
    refuse_shared_memory();
    shmem_finalize();
    return 0;
}
