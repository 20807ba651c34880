/* SPDX-License-Identifier: BSD-3-Clause */
/* svm.c: the owner of coarse-grain memory, the host or the devices.
 *
 * A coarse block is the host's while it is mapped. It starts mapped. A thread that enqueues a
 * command that may use it unmaps it first, on the same queue; it stays unmapped, so that a row of
 * launches pays once; synchronize() maps managed memory back. Kernels may follow pointers, so a
 * launch hands over every coarse block of the platform, not only those that its arguments lie in.
 *
 * An unmap is a command: other queues wait for a marker after it before they use the memory. It has
 * no event of its own: PoCL 6 (Debian 13) ends the process when it is asked for one. */

#include "backends/opencl/opencl.h"
#include <stdlib.h>

/* Order everything that follows on @p queue after the unmaps of other queues. */
static memspan_status_t follow_others(struct opencl_queue *queue)
{
    struct opencl_platform *platform = queue->device->platform;
    const struct opencl_calls *cl    = &platform->state->cl;
    struct opencl_queue *other;
    cl_int code;

    if (queue->handover_seen == platform->handovers) {
        return MEMSPAN_OK;
    }
    for (other = platform->queues; other != NULL; other = other->next) {
        if ((other == queue) || (other->handed_over == NULL)) {
            continue;
        }
        code = cl->clEnqueueBarrierWithWaitList(queue->handle, 1, &other->handed_over, NULL);
        if (code != OPENCL_SUCCESS) {
            return opencl_error(platform->state, "clEnqueueBarrierWithWaitList", code,
                                "%s cannot wait for managed memory", queue->device->info.name);
        }
        queue->enqueued++;
    }
    queue->handover_seen = platform->handovers;
    return MEMSPAN_OK;
}

/* What other queues wait for from now on. Without it they would not: the host waits instead. */
static memspan_status_t note_handover(struct opencl_queue *queue)
{
    struct opencl_platform *platform = queue->device->platform;
    cl_event event                   = NULL;
    memspan_status_t status          = opencl_event_mark(queue, &event);

    if (status != MEMSPAN_OK) {
        (void)platform->state->cl.clFinish(queue->handle);
        return status;
    }
    if (queue->handed_over != NULL) {
        platform->state->cl.clReleaseEvent(queue->handed_over);
    }
    queue->handed_over   = event;
    queue->handover_seen = ++platform->handovers;
    return MEMSPAN_OK;
}

memspan_status_t opencl_hand_over(struct opencl_queue *queue, struct opencl_block *const *blocks,
                                  size_t count)
{
    struct opencl_platform *platform = queue->device->platform;
    memspan_status_t status          = follow_others(queue);
    bool handed                      = false;
    size_t i;

    for (i = 0; (status == MEMSPAN_OK) && (i < count); i++) {
        struct opencl_block *block = blocks[i];
        cl_int code;

        if ((block == NULL) || !block->coarse || !block->mapped) {
            continue;
        }
        code = platform->state->cl.clEnqueueSVMUnmap(queue->handle, block->svm, 0, NULL, NULL);
        if (code != OPENCL_SUCCESS) {
            status = opencl_error(platform->state, "clEnqueueSVMUnmap", code,
                                  "cannot hand %zu bytes at %p to %s", block->size_bytes,
                                  (void *)block->base, queue->device->info.name);
            break;
        }
        block->mapped = false;
        queue->enqueued++;
        handed = true;
    }
    if (handed) {
        memspan_status_t noted = note_handover(queue);
        status                 = (status == MEMSPAN_OK) ? noted : status;
    }
    return status;
}

static bool anything_to_take(const struct opencl_platform *platform)
{
    size_t i;

    for (i = 0; i < platform->block_count; i++) {
        const struct opencl_block *block = platform->blocks[i];
        if ((block->kind == MEMSPAN_KIND_MANAGED) && block->coarse && !block->mapped) {
            return true;
        }
    }
    return false;
}

static void forget_handovers(struct opencl_platform *platform)
{
    struct opencl_queue *queue;

    for (queue = platform->queues; queue != NULL; queue = queue->next) {
        if (queue->handed_over != NULL) {
            platform->state->cl.clReleaseEvent(queue->handed_over);
            queue->handed_over = NULL;
        }
        queue->handover_seen = platform->handovers;
    }
}

static memspan_status_t map(const struct opencl_device *device, cl_command_queue handle,
                            cl_bool wait, struct opencl_block *block)
{
    const struct opencl_state *state = device->platform->state;
    cl_int code = state->cl.clEnqueueSVMMap(handle, wait, OPENCL_MAP_READ | OPENCL_MAP_WRITE,
                                            block->svm, block->svm_size_bytes, 0, NULL, NULL);

    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clEnqueueSVMMap", code,
                            "cannot make %zu bytes at %p the host's again", block->size_bytes,
                            (void *)block->base);
    }
    block->mapped = true;
    return MEMSPAN_OK;
}

memspan_status_t opencl_take_back(struct opencl_queue *queue)
{
    struct opencl_platform *platform = queue->device->platform;
    memspan_status_t status;
    size_t i;

    if (!anything_to_take(platform) || opencl_platform_is_held(platform)) {
        return MEMSPAN_OK; /* a held queue may wait for this thread */
    }
    status = opencl_platform_quiesce(platform);
    if (status != MEMSPAN_OK) {
        return status;
    }
    forget_handovers(platform);
    for (i = 0; i < platform->block_count; i++) {
        struct opencl_block *block = platform->blocks[i];
        if ((block->kind != MEMSPAN_KIND_MANAGED) || !block->coarse || block->mapped) {
            continue;
        }
        status = map(queue->device, queue->handle, 0, block);
        if (status != MEMSPAN_OK) {
            break;
        }
        queue->enqueued++;
    }
    /* The lock is kept: a block that is being mapped must not be handed over again before it is
     * here. */
    if (queue->enqueued != queue->finished) {
        cl_int code     = platform->state->cl.clFinish(queue->handle);
        queue->finished = queue->enqueued;
        if ((code != OPENCL_SUCCESS) && (status == MEMSPAN_OK)) {
            status = opencl_error(platform->state, "clFinish", code,
                                  "managed memory did not come back to the host");
        }
    }
    return status;
}

memspan_status_t opencl_map_now(struct opencl_device *device, struct opencl_block *block)
{
    memspan_status_t status = opencl_queue_need_host(device);

    return (status != MEMSPAN_OK) ? status : map(device, device->host_queue, 1, block);
}
