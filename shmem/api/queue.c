/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: operations in the order of a queue. Arguments are checked in the call, by the thread
 * that makes the mistake; collectives check theirs together, when they run. */

#include "shmem/api/routine.h"
#include "shmem/collective/collective.h"
#include "shmem/collective/combine.h"
#include "shmem/device/on_queue.h"
#include "shmem/transport/atomic.h"
#include "shmem/transport/order.h"
#include <memspan/allocator.h>
#include <shmemx.h>

#define SUBMIT(...)                                                                                \
    (int)msp_on_queue_submit(queue, &(struct msp_on_queue){.call = __func__, __VA_ARGS__})

/* ---- put and get ---- */

static int run_put(const struct msp_on_queue *o)
{
    msp_put(o->call, msp_context_default(), o->dest, o->source, o->count, o->pe, 0);
    return 0;
}

static int run_get(const struct msp_on_queue *o)
{
    msp_get(o->call, msp_context_default(), o->dest, o->source, o->count, o->pe, 0);
    return 0;
}

/* The peer's place in this process, where the driver of the queue copies between it and @p local;
 * NULL elsewhere. Fatal where an argument is wrong. */
static void *find_direct(const char *call, const void *symmetric, const void *local, size_t count,
                         int pe, shmemx_queue_t queue)
{
    struct msp_target target;

    msp_job_require(call);
    if (count == 0) {
        return NULL;
    }
    if (memspan_pointer_kind(local) == MEMSPAN_KIND_DEVICE) {
        if (!msp_job_has_device_memory()) {
            msp_job_add_device_memory(local);
        }
        msp_on_queue_prepare(call, local);
    }
    target = msp_target_resolve(call, msp_context_default(), symmetric, count, pe);
    return (!target.segment->host_touches && (target.direct != NULL) &&
            msp_on_queue_copies(queue, target.direct, local))
               ? target.direct
               : NULL;
}

int shmemx_putmem_on_queue(void *dest, const void *source, size_t nelems, int pe,
                           shmemx_queue_t queue)
{
    void *direct = find_direct(__func__, dest, source, nelems, pe, queue);

    if (direct != NULL) {
        return (int)memspan_copy_on(queue, direct, source, nelems);
    }
    return SUBMIT(.run = run_put, .dest = dest, .source = source, .count = nelems, .pe = pe);
}

int shmemx_getmem_on_queue(void *dest, const void *source, size_t nelems, int pe,
                           shmemx_queue_t queue)
{
    const void *direct = find_direct(__func__, source, dest, nelems, pe, queue);

    if (direct != NULL) {
        return (int)memspan_copy_on(queue, dest, direct, nelems);
    }
    return SUBMIT(.run = run_get, .dest = dest, .source = source, .count = nelems, .pe = pe);
}

/* ---- signals and order ---- */

static int run_signal(const struct msp_on_queue *o)
{
    msp_signal(o->call, msp_context_default(), o->signal, o->value, o->how == SHMEM_SIGNAL_ADD,
               o->pe);
    return 0;
}

static int run_put_signal(const struct msp_on_queue *o)
{
    (void)run_put(o);
    msp_fence(msp_context_default());
    return run_signal(o);
}

static void check_signal(const char *call, const uint64_t *signal, int operator_, int pe)
{
    msp_job_require(call);
    (void)msp_rma_require(call, signal, sizeof *signal, pe);
    if ((operator_ != SHMEM_SIGNAL_SET) && (operator_ != SHMEM_SIGNAL_ADD)) {
        msp_refuse_signal_operator(call, operator_);
    }
}

int shmemx_putmem_signal_on_queue(void *dest, const void *source, size_t nelems, uint64_t *sig_addr,
                                  uint64_t signal, int sig_op, int pe, shmemx_queue_t queue)
{
    void *direct = find_direct(__func__, dest, source, nelems, pe, queue);
    int status   = 0;

    check_signal(__func__, sig_addr, sig_op, pe);
    if (direct != NULL) {
        status = (int)memspan_copy_on(queue, direct, source, nelems);
    }
    return (status != 0) ? status
                         : SUBMIT(.run  = (direct != NULL) ? run_signal : run_put_signal,
                                  .dest = dest, .source = source, .count = nelems,
                                  .signal = sig_addr, .value = signal, .how = sig_op, .pe = pe);
}

int shmemx_signal_op_on_queue(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
                              shmemx_queue_t queue)
{
    check_signal(__func__, sig_addr, sig_op, pe);
    return SUBMIT(.run = run_signal, .signal = sig_addr, .value = signal, .how = sig_op, .pe = pe);
}

static int run_wait(const struct msp_on_queue *o)
{
    (void)pshmem_signal_wait_until(o->signal, o->how, o->value);
    return 0;
}

int shmemx_signal_wait_until_on_queue(uint64_t *sig_addr, int cmp, uint64_t cmp_value,
                                      shmemx_queue_t queue)
{
    msp_job_require(__func__);
    (void)msp_rma_require(__func__, sig_addr, sizeof *sig_addr, msp_job.pe);
    if ((cmp < SHMEM_CMP_EQ) || (cmp > SHMEM_CMP_LE)) {
        msp_refuse_comparison(__func__, cmp);
    }
    return SUBMIT(.run = run_wait, .signal = sig_addr, .value = cmp_value, .how = cmp);
}

static int run_quiet(const struct msp_on_queue *o)
{
    (void)o;
    msp_quiet(msp_context_default());
    return 0;
}

int shmemx_quiet_on_queue(shmemx_queue_t queue)
{
    msp_job_require(__func__);
    return SUBMIT(.run = run_quiet);
}

/* ---- arrival ---- */

static int run_barrier(const struct msp_on_queue *o)
{
    msp_collective_barrier(msp_require_team(o->call, "team", o->team));
    return 0;
}

static int run_sync(const struct msp_on_queue *o)
{
    msp_collective_sync(msp_require_team(o->call, "team", o->team));
    return 0;
}

int shmemx_barrier_all_on_queue(shmemx_queue_t queue)
{
    msp_job_require(__func__);
    return SUBMIT(.run = run_barrier, .team = SHMEM_TEAM_WORLD);
}

int shmemx_sync_all_on_queue(shmemx_queue_t queue)
{
    msp_job_require(__func__);
    return SUBMIT(.run = run_sync, .team = SHMEM_TEAM_WORLD);
}

int shmemx_barrier_on_queue(shmem_team_t team, shmemx_queue_t queue)
{
    (void)msp_check_team(__func__, "team", team);
    return SUBMIT(.run = run_barrier, .team = team);
}

int shmemx_team_sync_on_queue(shmem_team_t team, shmemx_queue_t queue)
{
    (void)msp_check_team(__func__, "team", team);
    return SUBMIT(.run = run_sync, .team = team);
}

/* ---- collectives ---- */

static int run_broadcast(const struct msp_on_queue *o)
{
    return pshmem_broadcastmem(o->team, o->dest, o->source, o->count, o->how);
}

int shmemx_broadcastmem_on_queue(shmem_team_t team, void *dest, const void *source, size_t nelems,
                                 int PE_root, shmemx_queue_t queue)
{
    (void)msp_check_team(__func__, "team", team);
    return SUBMIT(.run = run_broadcast, .team = team, .dest = dest, .source = source,
                  .count = nelems, .how = PE_root);
}

#define COLLECTIVE(OP)                                                                             \
    static int run_##OP(const struct msp_on_queue *o)                                              \
    {                                                                                              \
        return pshmem_##OP(o->team, o->dest, o->source, o->count);                                 \
    }                                                                                              \
    int shmemx_##OP##_on_queue(shmem_team_t team, void *dest, const void *source, size_t nelems,   \
                               shmemx_queue_t queue)                                               \
    {                                                                                              \
        (void)msp_check_team(__func__, "team", team);                                              \
        return SUBMIT(.run = run_##OP, .team = team, .dest = dest, .source = source,               \
                      .count = nelems);                                                            \
    }
COLLECTIVE(collectmem)
COLLECTIVE(fcollectmem)
COLLECTIVE(alltoallmem)

/* ---- reductions ---- */

_Static_assert(((int)SHMEMX_REDUCE_SUM == MSP_REDUCE_SUM) &&
                   ((int)SHMEMX_REDUCE_XOR == MSP_REDUCE_XOR) &&
                   ((int)SHMEMX_TYPE_INT8 == MSP_NUMBER_S8) &&
                   ((int)SHMEMX_TYPE_COMPLEXD == MSP_NUMBER_C64),
               "the numbers of collective.h");

static int run_reduce(const struct msp_on_queue *o)
{
    return msp_collective_reduce(msp_require_team(o->call, "team", o->team),
                                 (enum msp_reduction)o->how, (enum msp_number)o->type, o->dest,
                                 o->source, o->count);
}

int shmemx_reduce_on_queue(shmem_team_t team, void *dest, const void *source, size_t nreduce,
                           shmemx_type_t type, shmemx_reduction_t op, shmemx_queue_t queue)
{
    (void)msp_check_team(__func__, "team", team);
    if (((unsigned)op >= MSP_REDUCE_COUNT) || ((unsigned)type >= MSP_NUMBER_COUNT) ||
        (msp_combine_of((enum msp_reduction)op, (enum msp_number)type) == NULL)) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%s: no reduction %d of type %d", __func__,
                               (int)op, (int)type);
    }
    return SUBMIT(.run = run_reduce, .team = team, .dest = dest, .source = source, .count = nreduce,
                  .how = (int)op, .type = (int)type);
}
