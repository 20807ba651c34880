/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c: copies, fills and kernels, in the calling thread. When a call returns, its work is done:
 * there is no queue, and nothing to wait for. */

#include "backends/host/host.h"
#include <string.h>

static memspan_status_t refuse_work(const struct host *host, const char *what)
{
    return host->services->fail(MEMSPAN_ERR_INVALID, "host", "", 0, "", NULL, "%s", what);
}

memspan_status_t host_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                           size_t size_bytes)
{
    (void)ordinal;
    (void)queue;
    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    if ((to == NULL) || (from == NULL)) {
        return refuse_work(state, "copy to or from a null address");
    }
    memcpy(to, from, size_bytes);
    return MEMSPAN_OK;
}

memspan_status_t host_fill(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                           size_t size_bytes)
{
    (void)ordinal;
    (void)queue;
    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    if (to == NULL) {
        return refuse_work(state, "fill at a null address");
    }
    memset(to, byte, size_bytes);
    return MEMSPAN_OK;
}

memspan_status_t host_synchronize(void *state, int ordinal, void *queue)
{
    (void)state;
    (void)ordinal;
    (void)queue;
    return MEMSPAN_OK;
}

static void run_daxpy(const memspan_kernel_call_t *call)
{
    const double *x = call->x;
    const double *y = call->y;
    double *z       = call->z;
    double a        = call->a;
    size_t i;

    for (i = 0; i < call->count; i++) {
        z[i] += a * x[i] + y[i];
    }
}

static void run_fill(const memspan_kernel_call_t *call)
{
    double *z = call->z;
    size_t i;

    for (i = 0; i < call->count; i++) {
        z[i] = call->a;
    }
}

static void run_sum(const memspan_kernel_call_t *call)
{
    const double *x = call->x;
    double sum      = 0.0;
    size_t i;

    for (i = 0; i < call->count; i++) {
        sum += x[i];
    }
    *(double *)call->z = sum;
}

/* x is the first link: each step loads the next address from where it stands. */
static void run_chase(const memspan_kernel_call_t *call)
{
    const void *at = call->x;
    size_t i;

    for (i = 0; i < call->count; i++) {
        at = *(const void *const *)at;
    }
    *(const void **)call->z = at;
}

/* On the value's way to 32 bits: negative numbers wrap, as they do on a device. */
static void run_add_atomic(const memspan_kernel_call_t *call)
{
    uint32_t amount = (uint32_t)(int64_t)call->a;
    uint32_t *z     = call->z;
    size_t i;

    for (i = 0; i < call->count; i++) {
        /* Relaxed: a counter; its readers synchronise by other means. */
        __atomic_fetch_add(z, amount, __ATOMIC_RELAXED);
    }
}

/* Each kernel's work, and its operands among x, y, z. */
static const struct kernel {
    void (*run)(const memspan_kernel_call_t *call);
    bool x;
    bool y;
    bool z_even_if_empty; /* z is written also when count is 0 */
} kernels[] = {
    [MEMSPAN_KERNEL_DAXPY]      = {run_daxpy, true, true, false},
    [MEMSPAN_KERNEL_FILL]       = {run_fill, false, false, false},
    [MEMSPAN_KERNEL_SUM]        = {run_sum, true, false, true},
    [MEMSPAN_KERNEL_CHASE]      = {run_chase, true, false, true},
    [MEMSPAN_KERNEL_ADD_ATOMIC] = {run_add_atomic, false, false, false},
};

memspan_status_t host_launch(void *state, int ordinal, void *queue,
                             const memspan_kernel_call_t *call)
{
    struct host *host = state;
    const struct kernel *kernel;
    bool empty;

    (void)ordinal;
    (void)queue;
    if (call == NULL) {
        return refuse_work(host, "no kernel call");
    }
    if ((unsigned)call->kernel >= sizeof(kernels) / sizeof(kernels[0])) {
        return host->services->fail(MEMSPAN_ERR_UNSUPPORTED, "host", "", 0, "", NULL,
                                    "no kernel %d", (int)call->kernel);
    }
    kernel = &kernels[call->kernel];
    empty  = (call->count == 0);
    if ((empty && !kernel->z_even_if_empty)) {
        return MEMSPAN_OK;
    }
    if ((call->z == NULL) || (!empty && kernel->x && (call->x == NULL)) ||
        (!empty && kernel->y && (call->y == NULL))) {
        return refuse_work(host, "a kernel was given a null address");
    }
    kernel->run(call);
    return MEMSPAN_OK;
}
