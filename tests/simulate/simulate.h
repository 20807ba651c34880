/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SIMULATE_H
#define MEMSPAN_TESTS_SIMULATE_H

/* A simulated job: its PEs are processes, as in any job, of whose threads one runs at a time.
 *
 *     simulate.c   the threads' turns, the clock, what ends a process
 *     calls.c      what leads here: atomic operations, locks, waits, the clock
 *     network.c    a network driver whose packets are in the state below
 *     job.c        the launcher: processes, faults, the verdict
 *     workload.c   a random program, and what OpenSHMEM promises for it
 *
 * All that is random comes from the seed. The state is one mapping that all processes share. */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_PES        = 4,
    SIM_THREADS    = 48,
    SIM_SERIALS    = 4096,
    SIM_POOL_BYTES = 64 << 20,
    SIM_TEXT_BYTES = 8192,
};
#define SIM_NEVER UINT64_MAX
#define SIM_S     UINT64_C(1000000000)
#define SIM_MS    UINT64_C(1000000)
#define SIM_GRACE (UINT64_C(600) * SIM_S) /* of the launcher after a fault */

enum sim_state { SIM_FREE, SIM_READY, SIM_WAITING, SIM_ENDED };

/* Slot 0 is the launcher's. */
struct sim_thread {
    uint32_t turn; /* futex: it may run */
    enum sim_state state;
    int pe;
    uint64_t key;      /* what it waits for */
    uint64_t until_ns; /* at the latest */
    bool has_timed_out;
    bool sees_network; /* arrivals end the wait, too */
    const void *place;
};

/* SIM_LEAVES: the victim calls shmem_finalize() while the others go on. SIM_EXITS:
 * shmem_global_exit(). */
enum sim_fault { SIM_NO_FAULT, SIM_DEATH, SIM_CUT, SIM_LEAVES, SIM_EXITS };
enum { SIM_STATUS = 7 /* of shmem_global_exit() */ };

/* What the seed has chosen. */
struct sim_profile {
    int pe_count;
    const char *transport; /* MEMSPAN_SHMEM_TRANSPORT; NULL: one host */
    unsigned switches;     /* one of so many steps gives the turn away */
    unsigned step_ns;      /* a step takes so long */
    unsigned delay_ns;     /* a packet usually takes up to so long */
    unsigned slow;         /* one packet of so many takes up to a hundred times as long */
    unsigned busy;         /* of eight operations */
    unsigned processors;   /* that the PEs see */
    bool has_descriptor;   /* of the network's events */
    bool is_hardware;      /* the network stores without its target's processor */
    bool has_membarrier;   /* the kernel's */
    bool reports_failures; /* the driver does; otherwise it is silent */
    bool launcher_goes_on; /* after a death; otherwise it ends the job */
    enum sim_fault fault;  /* and its place: */
    int victim;            /* a PE; its host's link to others */
    uint64_t fault_step;   /* of the victim */
};

struct sim_pe {
    int pid;
    int status;     /* as of waitpid() */
    bool is_ending; /* its process is about to end */
    bool has_ended;
    bool is_on;            /* between shmem_init() and shmem_finalize() */
    bool is_closed;        /* its network */
    bool is_told[SIM_PES]; /* which others have failed */
    int host;              /* the first PE of it */
    uint64_t lost_ns;      /* from when on others learn of its death */
    uint64_t steps;
    uint8_t released[SIM_SERIALS]; /* of its registered memory, by serial number */
    struct sim_packet *inbox;      /* by time */
};

struct sim {
    uint64_t seed;
    struct sim_profile profile;
    uint64_t random;
    uint64_t now_ns;
    uint64_t steps, turns;
    uint64_t hash; /* of the trace */
    uint64_t serial;
    int current;
    int alone;           /* the thread whose time limit ended when nothing else could; -1: none */
    bool has_struck;     /* the fault, */
    bool struck_on;      /* while the victim was between shmem_init() and shmem_finalize() */
    bool is_told_to_end; /* the launcher, by a PE */
    bool is_traced;
    uint64_t cut_ns;      /* from when on the link is cut, */
    uint64_t cut_told_ns; /* and its ends learn of it */
    uint64_t abort_ns;    /* when the launcher ends the job */
    uint64_t packets;     /* in the inboxes */
    uint64_t puts;        /* of these */
    struct sim_thread threads[SIM_THREADS];
    struct sim_pe pes[SIM_PES];
    bool has_failed;
    char failure[1024];
    size_t text_bytes;
    char text[SIM_TEXT_BYTES]; /* the PEs' standard error */
    size_t pool_used;
    void *pool_free[32];
    _Alignas(64) char pool[SIM_POOL_BYTES];
};
extern struct sim *sim;

/* ---- for the launcher and the workload ---- */

struct sim *sim_make(void);
/* The thread that calls is slot @p slot's from now on, and waits for its turn. */
void sim_adopt(int slot);
void sim_give_turn(int slot);
int sim_add_thread(int pe);
/* The launcher: the next turn is given; false when there is no thread left. */
bool sim_go_on(void);
/* Of this process; does not return. */
void sim_end_process(int status) __attribute__((noreturn));
/* The job is not what was promised. */
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
#define SIM_EXPECT(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            sim_fail(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)
/* The fault is here: until then the job is told to end, or this is found. */
void sim_strike(uint64_t grace_ns);
void sim_sleep(uint64_t ns);
/* For addr2line, in a buffer of its own. */
const char *sim_place(const void *place);
int sim_pe(void); /* of the calling thread; -1: none */
int sim_thread_start(pthread_t *thread, void *(*function)(void *), void *argument);
void sim_thread_join(pthread_t thread);

/* ---- among these files ---- */

uint64_t sim_mix(uint64_t *random);
uint64_t sim_draw(uint64_t below);
bool sim_is_on(void);
/* Others may run here. */
void sim_point(const void *place);
void sim_yield(const void *place);
/* False: the time limit has ended the wait. */
bool sim_wait(uint64_t key, uint64_t until_ns, bool sees_network, const void *place);
void sim_wake(uint64_t key, unsigned count);
void sim_wake_network(int pe, uint64_t due_ns);
/* The end of the calling thread. */
void sim_end_thread(void);
void *sim_allocate(size_t size_bytes);
void sim_release(void *pointer, size_t size_bytes);
void sim_say(const char *text, size_t size_bytes);
/* Of packets for the main queue of @p pe: when the first is due. */
uint64_t sim_network_due(int pe);
/* What the network stores and loads in a process that runs. */
void sim_network_store(int pe);
/* The descriptor of the network's events. */
extern int sim_network_fd;

#endif /* MEMSPAN_TESTS_SIMULATE_H */
