/* SPDX-License-Identifier: BSD-3-Clause */
/* The job file is an unnamed memory file: nothing can be left behind. */

#include "cmd/common/cli.h"
#include "cmd/common/clock.h"
#include "cmd/oshrun/oshrun.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#define FD_MIN 200 /* programs may expect low numbers to be free */

static uint64_t draw_cookie(void)
{
    uint64_t cookie = 0;
    if (getrandom(&cookie, sizeof(cookie), GRND_NONBLOCK) != (ssize_t)sizeof(cookie)) {
        cookie = (uint64_t)getpid() << 32 ^ (uint64_t)(cli_clock_s() * 1e9);
    }
    return cookie;
}

/* A sealed memory file of that size, locked while this process lives. */
static int make_file(uint64_t size_bytes)
{
    int low = memfd_create("oshrun-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (low < 0) {
        return -1;
    }
    int fd = fcntl(low, F_DUPFD_CLOEXEC, FD_MIN);
    if (fd < 0) {
        fd = low; /* beyond ulimit -n */
    } else {
        close(low);
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && size_bytes > limit.rlim_cur) {
        close(fd); /* SIGXFSZ would end this process */
        errno = EFBIG;
        return -1;
    }
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    if (ftruncate(fd, (off_t)size_bytes) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
        fcntl(fd, F_SETLK, &lock) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void fill_header(struct memspan_launch_header *header, uint32_t pe_count,
                        uint64_t size_bytes)
{
    header->magic               = MEMSPAN_LAUNCH_MAGIC;
    header->version             = MEMSPAN_LAUNCH_VERSION;
    header->pe_count            = pe_count;
    header->cookie              = draw_cookie();
    header->size_bytes          = size_bytes;
    header->exchange_size_bytes = MEMSPAN_LAUNCH_EXCHANGE_BYTES;
    header->launcher_pid        = (uint32_t)getpid();
    snprintf(header->job_id, sizeof(header->job_id), "oshrun-%d-%016llx", (int)getpid(),
             (unsigned long long)draw_cookie());
    snprintf(header->launcher, sizeof(header->launcher), "oshrun %s", MEMSPAN_VERSION_STRING);
}

bool job_open(struct job *job, const struct options *options)
{
    uint32_t pe_count = (uint32_t)options->pe_count;
    uint64_t size     = memspan_launch_size(pe_count, MEMSPAN_LAUNCH_EXCHANGE_BYTES);
    struct pe *pes    = calloc(pe_count, sizeof(*pes));
    int fd            = pes != NULL ? make_file(size) : -1;
    void *file        = MAP_FAILED;
    if (fd >= 0) {
        file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (file == MAP_FAILED) {
        cli_complain("cannot create the job file of %u PEs: %s%s", pe_count, strerror(errno),
                     errno == EFBIG ? " (limit: ulimit -f)" : "");
        return false;
    }
    fill_header(file, pe_count, size);
    *job = (struct job){
        .options = options, .header = file, .fd = fd, .pe_count = (int)pe_count, .pes = pes};
    return true;
}

enum memspan_launch_state job_state(const struct job *job, int pe)
{
    const struct memspan_launch_pe *record = memspan_launch_pe_record(job->header, (uint32_t)pe);
    uint32_t state                         = __atomic_load_n(&record->state, __ATOMIC_ACQUIRE);
    enum memspan_launch_state other        = job->pes[pe].pmix_state;
    if (state == MEMSPAN_LAUNCH_ATTACHED || other == MEMSPAN_LAUNCH_ATTACHED) {
        return MEMSPAN_LAUNCH_ATTACHED;
    }
    return state == MEMSPAN_LAUNCH_STARTED ? other : (enum memspan_launch_state)state;
}

void job_signal(const struct job *job, int signal)
{
    for (int pe = 0; pe < job->pe_count; pe++) {
        if (job->pes[pe].pid > 0) {
            if (kill(-job->pes[pe].pid, signal) != 0) {
                kill(job->pes[pe].pid, signal); /* it has left its process group */
            }
        }
    }
}
