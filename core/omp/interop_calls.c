/* SPDX-License-Identifier: BSD-3-Clause */
/* interop_calls.c: what Clang calls for the interop construct.
 *
 * The runtime serves the devices of GPU drivers. Ours to serve are the host, devices that only this
 * library has, and the runtime's devices on the host's own processors, where LLVM 19 ends the
 * process and LLVM 22 gives no object.
 *
 * The construct's task has three parts: dependences on earlier tasks, the work on the queue so far,
 * and dependences of later tasks. The first are waited for in the call, because the program may add
 * to the queue when the call returns. The rest is done in the call too, or with nowait by a task
 * that has the same dependences, so that later tasks start after the queue's work and the host does
 * not wait for it. */

#include "core/base/error.h"
#include "core/base/region.h"
#include "core/device/device.h"
#include "core/omp/interop.h"
#include "core/omp/openmp.h"

enum { OFFLOAD_OK = 0, OFFLOAD_FAIL = -1, DEFAULT_DEVICE = -1 };
enum { FLAG_DISPATCH = 1u << 0, FLAG_NOWAIT = 1u << 1 };
enum { TYPE_TARGETSYNC = 1, TYPE_TARGETSYNC_19 = 2 }; /* of get() and of init() */

/* What the clauses of one construct are, in both forms of the calls. */
struct clauses {
    void *location;
    int32_t thread;
    struct msp_omp_dependences depends;
    bool nowait;
};

/* ---- dependences ---- */

typedef void wait_fn(void *location, int32_t thread, int32_t count, void *list, int32_t other_count,
                     void *others);

static bool has_dependences(const struct clauses *c)
{
    return (c->depends.count > 0) || (c->depends.other_count > 0);
}

static void wait_for_dependences(const struct clauses *c)
{
    const struct msp_omp_dependences *d = &c->depends;
    uintptr_t real                      = msp_omp_real(MSP_OMP_REAL_KMPC_WAIT_DEPS);
    const struct msp_region_watcher *watcher;

    if (!has_dependences(c)) {
        return;
    }
    if (real != 0) {
        ((wait_fn *)real)(c->location, c->thread, d->count, d->list, d->other_count, d->others);
    } else {
        msp_omp_target_wait(1);
    }
    watcher = msp_region_watched();
    if (watcher != NULL) {
        watcher->waited(watcher->state);
    }
}

/* What tasks of LLVM's runtime begin with, and the part that is ours. */
struct task {
    struct ending *ending;
    int32_t (*entry)(int32_t thread, struct task *task);
    int32_t part;
    uint64_t unused[2];
};

/* The end of a construct: the queue's work is complete, and with an owned queue closed. */
struct ending {
    memspan_queue_h queue;
    bool closes;
};

static void end(const struct ending *e)
{
    memspan_status_t status =
        e->closes ? memspan_queue_close(e->queue) : memspan_queue_synchronize(e->queue);

    if (status != MEMSPAN_OK) {
        msp_omp_refused("interop");
    }
}

static int32_t end_in_task(int32_t thread, struct task *task)
{
    (void)thread;
    end(task->ending);
    return 0;
}

typedef struct task *make_fn(void *location, int32_t thread, int32_t flags, size_t task_bytes,
                             size_t shared_bytes,
                             int32_t (*entry)(int32_t thread, struct task *task));
typedef int32_t start_fn(void *location, int32_t thread, struct task *task, int32_t count,
                         void *list, int32_t other_count, void *others);

/* False: there is no LLVM runtime. */
static bool end_later(const struct clauses *c, const struct ending *e)
{
    enum { TIED = 1 };
    const struct msp_omp_dependences *d = &c->depends;
    uintptr_t make                      = msp_omp_real(MSP_OMP_REAL_KMPC_TASK_ALLOC);
    uintptr_t start                     = msp_omp_real(MSP_OMP_REAL_KMPC_TASK_WITH_DEPS);
    struct task *task;

    if ((make == 0) || (start == 0)) {
        return false;
    }
    task = ((make_fn *)make)(c->location, c->thread, TIED, sizeof(*task), sizeof(*e), end_in_task);
    *task->ending = *e;
    ((start_fn *)start)(c->location, c->thread, task, d->count, d->list, d->other_count, d->others);
    return true;
}

/* ---- objects ---- */

/* May the runtime have interop objects of its device? */
static bool runtime_serves(int number)
{
    const unsigned processors = MEMSPAN_CAN_UNIFIED_PHYSICAL;
    const struct msp_region_watcher *watcher;
    const struct msp_device *d;

    if ((number < 0) || msp_omp_numbers_are_ours() || (number >= msp_omp_runtime_device_count())) {
        return false;
    }
    d       = msp_device_find(number);
    watcher = msp_region_watched(); /* it may have begun just now */
    if ((watcher != NULL) && (number < watcher->device_count)) {
        return false;
    }
    return (d == NULL) || ((d->table->flags & MEMSPAN_BACKEND_NUMBERS_DEVICES) == 0) ||
           ((d->info.capabilities & processors) == 0);
}

/* Our object of a device; 0 after the log. */
static uintptr_t make(int number, enum msp_queue_interop made)
{
    memspan_queue_h queue = MEMSPAN_QUEUE_NULL;
    struct msp_queue *q   = NULL;
    int device;
    memspan_status_t status = msp_omp_device_from(number, &device);

    if (status == MEMSPAN_OK) {
        status = memspan_queue_open(device, MEMSPAN_QUEUE_OWN, NULL, 0, &queue);
    }
    if (status == MEMSPAN_OK) {
        q = msp_queue_acquire(queue);
    }
    if (q == NULL) {
        msp_omp_refused("interop init");
        return 0;
    }
    q->interop = made;
    msp_queue_release(q);
    return (uintptr_t)queue;
}

/* use, or destroy with @p is_last. */
static int finish(const struct clauses *c, uintptr_t handle, bool is_last)
{
    struct ending e = {(memspan_queue_h)handle, false};
    struct msp_interop object;

    if (!msp_interop_get(handle, &object)) {
        msp_omp_refused(is_last ? "interop destroy" : "interop use");
        return OFFLOAD_FAIL;
    }
    e.closes = is_last && (object.made != MSP_INTEROP_NO);
    wait_for_dependences(c);
    if (!c->nowait || object.is_immediate || !end_later(c, &e)) {
        end(&e);
    }
    return OFFLOAD_OK;
}

/* ---- the calls until LLVM 22 ---- */

static struct clauses clauses_of(void *location, int32_t thread, int32_t count, void *list,
                                 int32_t nowait)
{
    return (struct clauses){location, thread, {count, list, 0, NULL}, nowait != 0};
}

static int number_of(int64_t device)
{
    return (device == DEFAULT_DEVICE) ? msp_omp_default_device() : (int)device;
}

void __tgt_interop_init(void *location, int32_t thread, uintptr_t *interop, int32_t type,
                        int32_t device, int32_t depend_count, void *depends, int32_t nowait)
{
    MSP_OMP_CALL();
    struct clauses c = clauses_of(location, thread, depend_count, depends, nowait);
    uintptr_t real   = msp_omp_real(MSP_OMP_REAL_TGT_INTEROP_INIT);
    int number       = number_of(device);

    *interop = 0;
    if ((real != 0) && runtime_serves(number)) {
        ((void (*)(void *, int32_t, uintptr_t *, int32_t, int32_t, int32_t, void *, int32_t))real)(
            location, thread, interop, type, device, depend_count, depends, nowait);
    }
    if (*interop == 0) {
        wait_for_dependences(&c);
        *interop = make(number,
                        (type == TYPE_TARGETSYNC_19) ? MSP_INTEROP_TARGETSYNC : MSP_INTEROP_TARGET);
    }
}

typedef void end_fn(void *location, int32_t thread, uintptr_t *interop, int32_t device,
                    int32_t depend_count, void *depends, int32_t nowait);

static void finish_19(enum msp_omp_real which, const struct clauses *c, uintptr_t *interop,
                      int32_t device)
{
    uintptr_t real = msp_omp_real(which);
    bool is_last   = which == MSP_OMP_REAL_TGT_INTEROP_DESTROY;

    if (*interop == 0) {
        wait_for_dependences(c); /* the runtime would end the process */
    } else if (msp_interop_is_ours(*interop)) {
        (void)finish(c, *interop, is_last);
    } else if (real != 0) {
        ((end_fn *)real)(c->location, c->thread, interop, device, c->depends.count, c->depends.list,
                         c->nowait);
    }
    if (is_last) {
        *interop = 0; /* which LLVM 22 leaves */
    }
}

void __tgt_interop_use(void *location, int32_t thread, uintptr_t *interop, int32_t device,
                       int32_t depend_count, void *depends, int32_t nowait)
{
    MSP_OMP_CALL();
    struct clauses c = clauses_of(location, thread, depend_count, depends, nowait);

    finish_19(MSP_OMP_REAL_TGT_INTEROP_USE, &c, interop, device);
}

void __tgt_interop_destroy(void *location, int32_t thread, uintptr_t *interop, int32_t device,
                           int32_t depend_count, void *depends, int32_t nowait)
{
    MSP_OMP_CALL();
    struct clauses c = clauses_of(location, thread, depend_count, depends, nowait);

    finish_19(MSP_OMP_REAL_TGT_INTEROP_DESTROY, &c, interop, device);
}

/* ---- the calls that LLVM 21 and later have beside them ---- */

static struct clauses clauses_of_60(void *location, const struct msp_omp_interop_context *context,
                                    const struct msp_omp_dependences *depends)
{
    const struct msp_omp_dependences none = {0, NULL, 0, NULL};

    return (struct clauses){location, context->thread, (depends == NULL) ? none : *depends,
                            (context->flags & FLAG_NOWAIT) != 0};
}

uintptr_t __tgt_interop_get(void *location, int32_t type, int64_t device, int32_t preference_count,
                            void *preferences, struct msp_omp_interop_context *context,
                            struct msp_omp_dependences *depends)
{
    MSP_OMP_CALL();
    struct clauses c  = clauses_of_60(location, context, depends);
    uintptr_t real    = msp_omp_real(MSP_OMP_REAL_TGT_INTEROP_GET);
    bool is_dispatch  = (context->flags & FLAG_DISPATCH) != 0; /* the runtime ends those */
    int number        = number_of(device);
    uintptr_t interop = 0;

    if ((real != 0) && (is_dispatch || runtime_serves(number))) {
        interop = ((uintptr_t(*)(void *, int32_t, int64_t, int32_t, void *, void *, void *))real)(
            location, type, device, preference_count, preferences, context, depends);
    }
    if ((interop == 0) && !is_dispatch) {
        wait_for_dependences(&c);
        interop =
            make(number, (type == TYPE_TARGETSYNC) ? MSP_INTEROP_TARGETSYNC : MSP_INTEROP_TARGET);
    }
    return interop;
}

static int finish_60(enum msp_omp_real which, void *location, uintptr_t interop,
                     struct msp_omp_interop_context *context, struct msp_omp_dependences *depends)
{
    struct clauses c = clauses_of_60(location, context, depends);
    uintptr_t real   = msp_omp_real(which);

    if (msp_interop_is_ours(interop)) {
        return finish(&c, interop, which == MSP_OMP_REAL_TGT_INTEROP_RELEASE);
    }
    if ((interop == 0) || (real == 0)) {
        wait_for_dependences(&c);
        return OFFLOAD_FAIL;
    }
    return ((int (*)(void *, uintptr_t, void *, void *))real)(location, interop, context, depends);
}

int __tgt_interop_use60(void *location, uintptr_t interop, struct msp_omp_interop_context *context,
                        struct msp_omp_dependences *depends)
{
    MSP_OMP_CALL();
    return finish_60(MSP_OMP_REAL_TGT_INTEROP_USE60, location, interop, context, depends);
}

int __tgt_interop_release(void *location, uintptr_t interop,
                          struct msp_omp_interop_context *context,
                          struct msp_omp_dependences *depends)
{
    MSP_OMP_CALL();
    return finish_60(MSP_OMP_REAL_TGT_INTEROP_RELEASE, location, interop, context, depends);
}
