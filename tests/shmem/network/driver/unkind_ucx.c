/* SPDX-License-Identifier: BSD-3-Clause */
/* unkind_ucx.c: UCX, which never completes at once (unkind.h). The plug-in is linked with --wrap
 * for each function here. It is for one thread. */

#include "tests/shmem/network/driver/unkind.h"
#include <ucp/api/ucp.h>

/* What a driver takes for UCX's request. */
struct operation {
    struct operation *next;
    ucp_send_nbx_callback_t callback;
    void *argument;
    uint64_t due; /* polls */
    ucs_status_t status;
    bool is_over;
    char bytes[64];
};

static struct operation *operations;
static struct operation *ending; /* its callback runs */
static uint64_t polls;

void __real_ucp_request_free(void *request);
void __wrap_ucp_request_free(void *request);
void __wrap_ucp_request_free(void *request)
{
    if ((ending == NULL) || (request != ending->bytes)) {
        __real_ucp_request_free(request);
    }
}

static void over(void *request, ucs_status_t status, void *argument)
{
    struct operation *operation = argument;

    __real_ucp_request_free(request);
    operation->status  = status;
    operation->is_over = true;
}

/* @p own: parameters whose completion is over(). NULL: there is none to be late. */
static struct operation *take(const ucp_request_param_t *given, ucp_request_param_t *own)
{
    struct operation *operation = NULL;

    *own = *given;
    if ((given->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) != 0) {
        operation           = calloc(1, sizeof *operation);
        operation->callback = given->cb.send;
        operation->argument = given->user_data;
        operation->due      = polls + 1 + unkind_draw();
        own->cb.send        = over;
        own->user_data      = operation;
    }
    return operation;
}

static ucs_status_ptr_t started(struct operation *operation, ucs_status_ptr_t pointer)
{
    if (operation == NULL) {
        return pointer;
    }
    if (UCS_PTR_IS_ERR(pointer)) {
        free(operation);
        return pointer;
    }
    operation->is_over = (pointer == NULL); /* else over() says so */
    operation->next    = operations;
    operations         = operation;
    return operation->bytes;
}

unsigned __real_ucp_worker_progress(ucp_worker_h worker);
unsigned __wrap_ucp_worker_progress(ucp_worker_h worker);
unsigned __wrap_ucp_worker_progress(ucp_worker_h worker)
{
    struct operation **link = &operations;
    unsigned count          = __real_ucp_worker_progress(worker);

    polls++;
    while (*link != NULL) {
        struct operation *operation = *link;

        count++;
        if (!operation->is_over || (operation->due > polls)) {
            link = &operation->next;
            continue;
        }
        *link  = operation->next;
        ending = operation;
        operation->callback(operation->bytes, unkind_fails() ? UCS_ERR_IO_ERROR : operation->status,
                            operation->argument);
        ending = NULL;
        free(operation);
    }
    return count;
}

/* ---- operations ---- */

#define UNKIND(name, parameters, arguments)                                                        \
    ucs_status_ptr_t __real_##name parameters;                                                     \
    ucs_status_ptr_t __wrap_##name parameters;                                                     \
    ucs_status_ptr_t __wrap_##name parameters                                                      \
    {                                                                                              \
        ucp_request_param_t own;                                                                   \
        struct operation *operation = take(param, &own);                                           \
                                                                                                   \
        return started(operation, __real_##name arguments);                                        \
    }

UNKIND(ucp_put_nbx,
       (ucp_ep_h ep, const void *buffer, size_t count, uint64_t remote, ucp_rkey_h key,
        const ucp_request_param_t *param),
       (ep, buffer, count, remote, key, &own))
UNKIND(ucp_get_nbx,
       (ucp_ep_h ep, void *buffer, size_t count, uint64_t remote, ucp_rkey_h key,
        const ucp_request_param_t *param),
       (ep, buffer, count, remote, key, &own))
UNKIND(ucp_am_send_nbx,
       (ucp_ep_h ep, unsigned id, const void *header, size_t header_length, const void *buffer,
        size_t count, const ucp_request_param_t *param),
       (ep, id, header, header_length, buffer, count, &own))
UNKIND(ucp_ep_flush_nbx, (ucp_ep_h ep, const ucp_request_param_t *param), (ep, &own))
