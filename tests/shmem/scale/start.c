/* SPDX-License-Identifier: BSD-3-Clause */
/* start.c: shmem_init() of up to 100,000 PEs, as it is shipped, against a model of PMIx.
 *
 *     check PES OF_HOST...   the start, of shmem_init() and of shmemx_init_try(); prints the rows
 * of shmem/SCALE.md wrong                  the model is wrong for one PE: that must be found
 *
 * PEs run one after another: what is in the program's variables when the first one begins is there
 * again when each of the others does. A PE contacts those that it sends messages to in the job's
 * first barriers, and those that send to it. */

#include "pmix_model.h"
#include "shmem/bootstrap/sources.h"
#include "shmem/collective/collective.h"
#include "shmem/collective/exchange.c" /* its flags are private to it */
#include "shmem/collective/hosts.h"
#include "shmem/collective/peer.h"
#include "shmem/control/agree.h"
#include "shmem/control/memory.h"
#include "shmem/device/device.h"
#include "shmem/device/on_queue.h"
#include "shmem/job.h"
#include "shmem/network/network.h"
#include "shmem/option.h"
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PEERS_MAX = 64, ADDRESS_BYTES = 128 };

extern char __data_start[];
extern char _end[];

/* Of all PEs: outside the program's variables. */
struct all {
    int pes;
    int of_node;
    bool is_tried;
    bool is_silent;
    bool verifies; /* the second time */
    int failures;
    char *variables;
    char *slots;
    size_t heap_bytes; /* of the PE that needs most */
    int most_peers;
    jmp_buf end;
    struct {
        int count;
        int peers[PEERS_MAX];
    } * contacts; /* that send to each PE */
};
static struct all *all;

static int peers[PEERS_MAX]; /* of this PE */
static int peer_count;

static void fail(const char *what, int pe)
{
    if ((all->failures++ < 5) && !all->is_silent) {
        printf("FAILED: PE %d: %s (%d)\n", msp_job.pe, what, pe);
    }
}

/* ---- messages ---- */

static void contact(int pe)
{
    unsigned char address[MSP_NETWORK_ADDRESS_MAX];
    size_t bytes   = sizeof address;
    uint64_t token = 0;
    int i          = 0;

    while ((i < peer_count) && (peers[i] != pe)) {
        i++;
    }
    if (i < peer_count) {
        return;
    }
    if (i == PEERS_MAX) {
        fail("has too many peers", i);
        return;
    }
    peers[peer_count++] = pe;
    if ((msp_network_card_get(pe, &token, address, &bytes) != MEMSPAN_OK) ||
        (all->verifies &&
         ((token != (uint64_t)pe + 1) || (bytes != ADDRESS_BYTES) || (address[0] != (pe & 255))))) {
        fail("has not the card of its peer", pe);
    }
}

void msp_message_send(const struct msp_team *of, int pe, void *dest, const void *source,
                      size_t size_bytes, _Atomic uint64_t *flag, uint64_t value, bool adds)
{
    int i = 0;

    (void)of, (void)dest, (void)source, (void)size_bytes, (void)flag, (void)value, (void)adds;
    if (msp_job_local_index(pe) >= 0) {
        return;
    }
    contact(pe);
    while ((i < all->contacts[pe].count) && (all->contacts[pe].peers[i] != msp_job.pe)) {
        i++;
    }
    if ((i == all->contacts[pe].count) && (i < PEERS_MAX)) {
        all->contacts[pe].peers[all->contacts[pe].count++] = msp_job.pe;
    }
}

/* All flags of the exchange are set. */
void msp_wait_step(struct msp_waiter *waiter)
{
    struct msp_team *job = msp_team_job();
    struct line *line    = mail_of(job)->round[turn_of(job, 0)];
    int round;

    (void)waiter;
    for (round = 0; round < MSP_EXCHANGE_ALL_ROUNDS; round++) {
        line[round].number = job->sync_count;
    }
}

void msp_wait_end(struct msp_waiter *waiter)
{
    (void)waiter;
}

/* ---- the steps of a start that reach neither launcher nor network ---- */

struct msp_control msp_control;
struct msp_team msp_teams[MSP_TEAM_MAX];
struct msp_doorbells msp_doorbells;
struct msp_context msp_contexts[MSP_CONTEXT_MAX];
atomic_bool msp_order_pending;
bool msp_peer_is_indirect;
static struct msp_doorbell doorbell;

/* All PEs give the same. */
uint64_t msp_agree_max(struct msp_team *team, uint64_t mine)
{
    uint64_t most = mine;

    if (team->groups != NULL) {
        msp_exchange_barrier(team, &most);
    }
    return mine;
}

bool msp_agree_all(struct msp_team *team, bool mine)
{
    (void)msp_agree_max(team, mine ? 0 : 1);
    return mine;
}

int msp_agree_first_other(struct msp_team *team, uint64_t mine)
{
    (void)msp_agree_max(team, msp_agree_max(team, mine));
    return -1;
}

void msp_collective_sync(struct msp_team *team)
{
    msp_exchange_barrier(team, NULL);
}

/* As team.c has it. */
void msp_team_open_job(void)
{
    struct msp_team *job = msp_team_job();

    *job = (struct msp_team){.stride  = 1,
                             .size    = msp_job.pe_count,
                             .pe      = msp_job.pe,
                             .is_live = true,
                             .barrier = MSP_BARRIER_MESSAGES};
    msp_groups_forget();
    msp_groups_make(job);
    if (job->groups != NULL) {
        msp_groups_find(job);
        msp_groups_make(job);
    }
}

memspan_status_t msp_transport_open(void)
{
    unsigned char address[ADDRESS_BYTES] = {(unsigned char)(msp_job.pe & 255)};

    return msp_network_card_put("model", (uint64_t)msp_job.pe + 1, address, sizeof address);
}

void msp_transport_close(void (*synchronise)(void))
{
    (void)synchronise;
    msp_network_card_close();
}

void msp_on_queue_finish(void)
{
}

void msp_device_close_all(void)
{
}

memspan_status_t msp_control_open(void)
{
    msp_control.slots      = (void *)all->slots;
    msp_doorbells.by_index = &doorbell - msp_job.local_index;
    return MEMSPAN_OK;
}

void msp_warn_once(int *key, const char *format, ...)
{
    (void)key;
    (void)format;
}

void msp_fatal(const char *format, ...)
{
    va_list arguments;

    if (!all->is_silent) {
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
    }
    fail("fatal", 0);
    longjmp(all->end, 1);
}

void msp_fatal_error(const char *call)
{
    msp_fatal("%s: %s\n", call, memspan_error_text());
}

memspan_status_t msp_error_elsewhere(memspan_status_t status, const char *format, ...)
{
    (void)format;
    return status;
}

int msp_team_local_count(const struct msp_team *team)
{
    (void)team;
    return msp_job.local_count;
}

/* ---- a PE ---- */

static void check_host(void)
{
    int first = msp_job.pe / all->of_node * all->of_node;
    int left  = all->pes - first;
    int i;

    if ((msp_job.local_count != ((left < all->of_node) ? left : all->of_node)) ||
        (msp_job.local_pes[msp_job.local_index] != msp_job.pe)) {
        fail("does not have the PEs of its host", msp_job.local_count);
    }
    for (i = 0; i < msp_job.local_count; i++) {
        if (msp_job.local_pes[i] != first + i) {
            fail("does not have the PE of its host", first + i);
        }
    }
}

static void start(int pe, bool verifies)
{
    size_t before;
    size_t after;
    int i;

    memcpy(__data_start, all->variables, (size_t)(_end - __data_start));
    model_become(pe, verifies);
    all->verifies = verifies;
    before        = mallinfo2().uordblks;
    if (setjmp(all->end) != 0) {
        return;
    }
    if (msp_job_init(all->is_tried ? NULL : "", "shmem_init", 0, NULL) != 0) {
        fail("does not start", 0);
        return;
    }
    for (i = 0; verifies && (i < all->contacts[pe].count); i++) {
        contact(all->contacts[pe].peers[i]);
    }
    after           = mallinfo2().uordblks;
    all->heap_bytes = (after - before > all->heap_bytes) ? (after - before) : all->heap_bytes;
    all->most_peers = (peer_count > all->most_peers) ? peer_count : all->most_peers;
    if (verifies) {
        check_host();
    }
    msp_job_finalize();
}

/* ---- a job ---- */

static void *pages(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        abort();
    }
    return memory;
}

static int log_2(int n)
{
    return (n <= 1) ? 0 : (32 - __builtin_clz((unsigned)n - 1));
}

static int hosts(void)
{
    return (all->pes + all->of_node - 1) / all->of_node;
}

struct most {
    uint64_t puts, put_bytes, barriers, node_gets, gets, got_bytes;
};

static uint64_t greater(uint64_t a, uint64_t b)
{
    return (a > b) ? a : b;
}

/* Every barrier has all PEs, and no PE needs more than the formulas of shmem/SCALE.md. */
static struct most sum_up(void)
{
    struct most most = {0};
    uint64_t levels  = all->is_tried ? 2 * (uint64_t)((log_2(all->pes) + 5) / 6) : 0;
    int pe;

    for (pe = 0; pe < all->pes; pe++) {
        const struct model_counts *counts = model_counts(pe);

        if ((counts->barriers != model_counts(0)->barriers) ||
            (counts->node_barriers !=
             model_counts(pe / all->of_node * all->of_node)->node_barriers)) {
            fail("leaves other barriers than the others", pe);
        }
        most.puts      = greater(most.puts, counts->puts);
        most.put_bytes = greater(most.put_bytes, counts->put_bytes);
        most.barriers  = greater(most.barriers, counts->barriers + counts->node_barriers);
        most.node_gets = greater(most.node_gets, counts->node_gets);
        most.gets      = greater(most.gets, counts->gets);
        most.got_bytes = greater(most.got_bytes, counts->got_bytes);
    }
    if (most.gets > 2 * (uint64_t)(log_2(all->pes) + log_2(hosts())) + (64 * levels)) {
        fail("fetches too much from other hosts", (int)most.gets);
    }
    if (most.node_gets > (uint64_t)all->of_node + (64 * levels)) {
        fail("fetches too much from its host", (int)most.node_gets);
    }
    return most;
}

static struct most run(int pes, int of_node, bool is_tried, enum model_fault fault, int fault_pe)
{
    struct most most;
    int pass;
    int pe;

    all            = pages(sizeof *all);
    all->pes       = pes;
    all->of_node   = of_node;
    all->is_tried  = is_tried;
    all->is_silent = (fault != MODEL_CORRECT);
    all->slots     = pages(sizeof(struct msp_control_offsets) * (size_t)of_node);
    all->contacts  = pages((size_t)pes * sizeof *all->contacts);
    model_open(pes, of_node);
    model_fault(fault, fault_pe);
    all->variables = pages((size_t)(_end - __data_start));
    memcpy(all->variables, __data_start, (size_t)(_end - __data_start));
    for (pass = 0; pass < 2; pass++) {
        for (pe = 0; pe < pes; pe++) {
            start(pe, pass == 1);
        }
    }
    most = sum_up();
    all->failures += model_failures();
    return most;
}

static int check(int pes, int of_node, bool is_tried)
{
    struct most most = run(pes, of_node, is_tried, MODEL_CORRECT, -1);

    printf("| %s | %d | %d | %llu | %llu | %llu | %llu | %d | %llu | %zu |\n",
           is_tried ? "shmemx_init_try()" : "shmem_init()", pes, of_node,
           (unsigned long long)most.barriers, (unsigned long long)most.put_bytes,
           (unsigned long long)most.node_gets, (unsigned long long)most.gets, all->most_peers,
           (unsigned long long)most.got_bytes, all->heap_bytes);
    return all->failures;
}

/* In a process of its own: the restored variables are those of one job. */
static int check_alone(int pes, int of_node, bool is_tried, enum model_fault fault, int pe)
{
    int status = 1;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        int failures;

        if (fault == MODEL_CORRECT) {
            failures = check(pes, of_node, is_tried);
        } else {
            run(pes, of_node, is_tried, fault, pe);
            failures = all->failures;
        }
        fflush(stdout);
        _exit((failures != 0) ? 1 : 0);
    }
    return ((child > 0) && (waitpid(child, &status, 0) == child) && (status == 0)) ? 0 : 1;
}

static int check_wrong(void)
{
    int missed = 0;
    int found  = 0;
    int fault;
    int pe;

    for (fault = MODEL_CORRECT + 1; fault < MODEL_FAULT_COUNT; fault++) {
        for (pe = 0; pe < 2 * 130; pe += 37) {
            bool is_tried = (pe >= 130);

            if (check_alone(130, 4, is_tried, (enum model_fault)fault, pe % 130) != 0) {
                found++;
            } else {
                printf("NOT FOUND: fault %d of PE %d\n", fault, pe % 130);
                missed++;
            }
        }
    }
    printf("%d faults found, %d not\n", found, missed);
    return missed;
}

int main(int count, char **arguments)
{
    int failures = 0;
    int i;

    setenv("PMIX_NAMESPACE", "model", 1);
    setenv("PMIX_RANK", "0", 1);
    if ((count > 1) && (strcmp(arguments[1], "wrong") == 0)) {
        return (check_wrong() == 0) ? 0 : 1;
    }
    for (i = 2; i + 1 < count; i += 2) {
        failures +=
            check_alone(atoi(arguments[i]), atoi(arguments[i + 1]), false, MODEL_CORRECT, -1);
        failures +=
            check_alone(atoi(arguments[i]), atoi(arguments[i + 1]), true, MODEL_CORRECT, -1);
    }
    return (failures == 0) ? 0 : 1;
}
