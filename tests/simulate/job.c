/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c: simulated jobs, one after the other.
 *
 *     memspan-simulate SEED [COUNT] [--trace] [--first]
 *
 * The launcher of each is here (memspan/launch.h). It ends the job where a PE asks for it or has
 * died, unless the seed has one that goes on: then the PEs themselves must end. */

#include "simulate.h"
#include "workload.h"
#include <fcntl.h>
#include <memspan/launch.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TWICE = 16 /* one seed of so many runs twice, and must run the same */ };

static struct {
    uint64_t first, count;
    bool is_traced;
    bool is_first; /* that fails is the last */
} options = {.count = 1};

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    return (sim_mix(&random_state) >> 8) % below;
}

static unsigned one_of(const unsigned *values, size_t count)
{
    return values[draw(count)];
}
#define ONE_OF(...)                                                                                \
    one_of((const unsigned[]){__VA_ARGS__}, sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

/* ---- what a seed is ---- */

static void choose_fault(struct sim_profile *profile)
{
    profile->victim           = (int)draw((uint64_t)profile->pe_count);
    profile->reports_failures = draw(3) != 0;
    profile->launcher_goes_on = draw(2) != 0;
    profile->fault_step       = (draw(3) == 0) ? draw(1500) : draw(60000);
    if (draw(4) == 0) {
        profile->fault = (enum sim_fault)(1 + draw(4));
        if ((profile->fault == SIM_CUT) && (profile->transport == NULL)) {
            profile->fault = SIM_DEATH;
        }
    }
}

static void choose_profile(struct sim_profile *profile)
{
    static const char *const transports[] = {NULL,    "sim:1",   "sim:1", "sim:2",
                                             "sim:3", "sim:1+2", "sim:/2"};

    *profile = (struct sim_profile){
        .pe_count       = 2 + (int)draw(3),
        .transport      = transports[draw(sizeof transports / sizeof transports[0])],
        .switches       = ONE_OF(3, 10, 30, 100, 300),
        .step_ns        = ONE_OF(3, 20, 100),
        .delay_ns       = ONE_OF(500, 5000, 50000, 2000000),
        .slow           = ONE_OF(8, 64, 1000000),
        .busy           = ONE_OF(0, 0, 1, 4),
        .processors     = ONE_OF(1, 2, 4, 16),
        .has_descriptor = draw(3) != 0,
        .is_hardware    = draw(4) == 0,
        .has_membarrier = draw(8) != 0,
    };
    choose_fault(profile);
}

static void set(const char *name, const char *value)
{
    if (value != NULL) {
        setenv(name, value, 1);
    } else {
        unsetenv(name);
    }
}

static void choose_environment(void)
{
    static const char *const spins[]       = {NULL, NULL, "0", "5", "100"};
    static const char *const collectives[] = {
        NULL, NULL, "reduce=scatter,broadcast=scatter,fcollect=pairwise,alltoall=pairwise",
        "reduce=doubling,fcollect=gather,collect=pairwise,alltoall=bruck"};
    static const char *const registers[] = {NULL, "all", "none", "64k"};

    set("MEMSPAN_SHMEM_TRANSPORT", sim->profile.transport);
    set("SHMEMX_SPIN", spins[draw(5)]);
    set("SHMEMX_REGISTER", registers[draw(4)]);
    set("SHMEMX_COLLECTIVE", collectives[draw(4)]);
    set("SHMEMX_INDIRECT", (draw(4) == 0) ? "1" : NULL);
    set("SHMEMX_CHECK", (draw(4) == 0) ? "1" : NULL);
    set("SHMEM_SYMMETRIC_SIZE", "2m");
    set("SHMEMX_HUGE_PAGES", "off");
    set("MEMSPAN_BACKENDS", "host");
}

/* ---- processes ---- */

static int make_job_file(struct memspan_launch_header **header_p)
{
    const uint64_t size =
        memspan_launch_size((uint32_t)sim->profile.pe_count, MEMSPAN_LAUNCH_EXCHANGE_BYTES);
    const struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int fd                  = memfd_create("simulate", MFD_ALLOW_SEALING);
    struct memspan_launch_header *header;

    if ((fd < 0) || (ftruncate(fd, (off_t)size) != 0) ||
        (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) ||
        (fcntl(fd, F_SETLK, &lock) != 0)) {
        perror("job file");
        exit(2);
    }
    header                      = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    header->magic               = MEMSPAN_LAUNCH_MAGIC;
    header->version             = MEMSPAN_LAUNCH_VERSION;
    header->pe_count            = (uint32_t)sim->profile.pe_count;
    header->cookie              = 1;
    header->size_bytes          = size;
    header->exchange_size_bytes = MEMSPAN_LAUNCH_EXCHANGE_BYTES;
    header->launcher_pid        = (uint32_t)getpid();
    strcpy(header->job_id, "simulate");
    strcpy(header->launcher, "memspan-simulate");
    *header_p = header;
    return fd;
}

static void crash(int signal, siginfo_t *info, void *context)
{
    (void)context;
    sim_fail("PE %d: signal %d, %s", sim_pe(), signal, sim_place(info->si_addr));
}

static void end_at_exit(int status, void *unused)
{
    (void)unused;
    fflush(NULL);
    sim_end_process(status);
}

static void be_pe(int pe, int slot, int fd)
{
    static char stack[1 << 16];
    const stack_t other           = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction action = {.sa_sigaction = crash, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    char text[64];

    snprintf(text, sizeof text, "%d:%d:1:%d", fd, pe, (int)getppid());
    setenv(MEMSPAN_LAUNCH_VARIABLE, text, 1);
    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    sim_adopt(slot);
    on_exit(end_at_exit, NULL); /* after all that the product does there */
    exit(workload_run(pe));
}

static void fork_pes(int fd)
{
    int pe;

    fflush(NULL);
    for (pe = 0; pe < sim->profile.pe_count; pe++) {
        int slot  = sim_add_thread(pe);
        pid_t pid = _Fork(); /* no handlers: it stands for the process itself */

        if (pid == 0) {
            be_pe(pe, slot, fd);
        }
        if (pid < 0) {
            perror("fork");
            exit(2);
        }
        sim->pes[pe].pid = pid;
    }
}

/* Its threads have ended with it. */
static void reap(int pe)
{
    int i;

    waitpid(sim->pes[pe].pid, &sim->pes[pe].status, 0);
    sim->pes[pe].has_ended = true;
    for (i = 1; i < SIM_THREADS; i++) {
        if ((sim->threads[i].state != SIM_FREE) && (sim->threads[i].pe == pe)) {
            sim->threads[i].state = SIM_ENDED;
        }
    }
}

static void reap_all(bool kills)
{
    int pe;

    for (pe = 0; pe < sim->profile.pe_count; pe++) {
        struct sim_pe *one = &sim->pes[pe];

        if (!one->has_ended && kills) {
            kill(one->pid, SIGKILL);
        }
        if (!one->has_ended && (kills || one->is_ending)) {
            reap(pe);
        }
    }
}

/* ---- a job ---- */

static void begin(uint64_t seed)
{
    int pe;

    memset(sim, 0, offsetof(struct sim, pool));
    random_state     = seed * UINT64_C(0x9e3779b97f4a7c15);
    sim->seed        = seed;
    sim->random      = ~seed;
    sim->alone       = -1;
    sim->cut_ns      = SIM_NEVER;
    sim->cut_told_ns = SIM_NEVER;
    sim->abort_ns    = SIM_NEVER;
    sim->is_traced   = options.is_traced;
    choose_profile(&sim->profile);
    choose_environment();
    for (pe = 0; pe < SIM_PES; pe++) {
        sim->pes[pe].lost_ns = SIM_NEVER;
        sim->pes[pe].host    = pe;
    }
}

static bool is_in_text(const char *format, int number)
{
    char text[64];

    snprintf(text, sizeof text, format, number);
    return strstr(sim->text, text) != NULL;
}

/* "" where the job was as promised. */
static const char *judge_end(void)
{
    static char text[1200];
    const struct sim_profile *profile = &sim->profile;
    const bool is_hurt = sim->has_struck && sim->struck_on && (profile->fault != SIM_CUT);
    int pe;

    if (sim->has_failed) {
        return sim->failure;
    }
    for (pe = 0; pe < profile->pe_count; pe++) {
        const int status    = sim->pes[pe].status;
        const bool is_right = WIFEXITED(status) && (WEXITSTATUS(status) == 0);

        if (!sim->has_struck && !is_right) {
            snprintf(text, sizeof text, "PE %d ended with status %#x", pe, status);
            return text;
        }
        if (is_hurt && is_right) {
            snprintf(text, sizeof text, "PE %d succeeds without PE %d", pe, profile->victim);
            return text;
        }
        if (WIFEXITED(status) && (WEXITSTATUS(status) >= 2) &&
            ((profile->fault != SIM_EXITS) || (WEXITSTATUS(status) != SIM_STATUS))) {
            snprintf(text, sizeof text, "PE %d ended with status %d", pe, WEXITSTATUS(status));
            return text;
        }
    }
    if (!sim->has_struck && (sim->text_bytes != 0)) {
        return "the PEs print an error";
    }
    if (!sim->has_struck && (sim->packets != 0)) {
        return "packets are left in the network";
    }
    if (sim->has_struck && sim->struck_on && !sim->is_told_to_end &&
        (sim->now_ns >= sim->abort_ns) &&
        ((profile->fault != SIM_DEATH) || profile->launcher_goes_on)) {
        return "PEs still wait ten minutes after the fault";
    }
    if (sim->is_told_to_end && (profile->fault == SIM_DEATH) &&
        !is_in_text("PE %d", profile->victim)) {
        return "the error does not name the PE that has died";
    }
    if (is_hurt && (profile->fault == SIM_LEAVES) &&
        !is_in_text("PE %d is at its end", profile->victim)) {
        return "the error does not name the PE that has left";
    }
    if (is_hurt && (profile->fault == SIM_EXITS) && (sim->text_bytes != 0)) {
        return "shmem_global_exit() prints an error";
    }
    return "";
}

static const char *run(uint64_t seed)
{
    struct memspan_launch_header *header;
    uint64_t size;
    int fd;

    begin(seed);
    fd   = make_job_file(&header);
    size = header->size_bytes;
    fork_pes(fd);
    while (!sim->has_failed && (sim->now_ns < sim->abort_ns) && sim_go_on()) {
        reap_all(false);
    }
    reap_all(true);
    munmap(header, size);
    close(fd);
    return judge_end();
}

static void report(uint64_t seed, const char *reason)
{
    static const char *const faults[] = {"no fault", "a death", "a cut link", "a PE that leaves",
                                         "shmem_global_exit()"};
    const struct sim_profile *profile = &sim->profile;

    printf("seed %llu: %s\n  %d PEs, %u processors, %s, %s; %llu steps, %llu turns, %.3f ms, trace "
           "%016llx\n%s",
           (unsigned long long)seed, (reason[0] != '\0') ? reason : "as promised",
           profile->pe_count, profile->processors,
           (profile->transport != NULL) ? profile->transport : "one host",
           faults[sim->has_struck ? profile->fault : SIM_NO_FAULT], (unsigned long long)sim->steps,
           (unsigned long long)sim->turns, (double)sim->now_ns / 1e6, (unsigned long long)sim->hash,
           sim->text);
    fflush(stdout);
}

static bool try_seed(uint64_t seed)
{
    const char *reason = run(seed);
    uint64_t hash      = sim->hash;

    if ((reason[0] != '\0') || (options.count == 1)) {
        report(seed, reason);
    }
    if ((reason[0] == '\0') && (seed % TWICE == 0)) {
        (void)run(seed);
        if (sim->hash != hash) {
            report(seed, "not the same twice");
            return false;
        }
    }
    return reason[0] == '\0';
}

static void read_options(int argc, char **argv)
{
    int numbers = 0;
    int i;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0) {
            options.is_traced = true;
        } else if (strcmp(argv[i], "--first") == 0) {
            options.is_first = true;
        } else if (numbers++ == 0) {
            options.first = strtoull(argv[i], NULL, 10);
        } else {
            options.count = strtoull(argv[i], NULL, 10);
        }
    }
    if (numbers == 0) {
        fprintf(stderr, "usage: memspan-simulate SEED [COUNT] [--trace] [--first]\n");
        exit(2);
    }
}

/* One turn goes round: a second processor would only be waited for. */
static void take_processor(void)
{
    cpu_set_t set;
    int i = sched_getcpu();

    CPU_ZERO(&set);
    CPU_SET((i >= 0) ? i : 0, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

int main(int argc, char **argv)
{
    uint64_t failed = 0;
    uint64_t turns  = 0;
    uint64_t i;

    read_options(argc, argv);
    take_processor();
    (void)sim_make();
    for (i = 0; (i < options.count) && ((failed == 0) || !options.is_first); i++) {
        failed += try_seed(options.first + i) ? 0 : 1;
        turns += sim->turns;
    }
    printf("%llu of %llu seeds failed; %llu turns\n", (unsigned long long)failed,
           (unsigned long long)options.count, (unsigned long long)turns);
    return (failed == 0) ? 0 : 1;
}
