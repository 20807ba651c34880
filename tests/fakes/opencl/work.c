/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c: queues, commands, shared memory, and the kernels. */

#include "fake.h"
#include <stdlib.h>
#include <string.h>

enum { SPOILT = 0xEE };

struct fake_block *fake_block_at(const void *address)
{
    struct fake_block *block;

    for (block = fake.blocks; block != NULL; block = block->next) {
        if (((const char *)address >= block->base) &&
            ((const char *)address < block->base + block->size)) {
            return block;
        }
    }
    return NULL;
}

char *fake_there(const struct _cl_context *context, const void *address)
{
    struct fake_block *block = fake_block_at(address);

    if ((block == NULL) || (block->context != context)) {
        return (char *)(uintptr_t)address;
    }
    if (block->coarse && block->mapped_there) {
        fake_broken("a command uses %p while it is mapped for the host", address);
    }
    return ((block->copy == NULL) ? block->base : block->copy) +
           ((const char *)address - block->base);
}

static void unref(struct _cl_event *event)
{
    event->references--;
    if (event->references == 0) {
        gpu.objects--;
        free(event);
    }
}

static void run_map(struct fake_block *block, bool map)
{
    if (block->mapped_there == map) {
        fake_broken("%s twice in a row", map ? "map" : "unmap");
    }
    block->mapped_there = map;
    if (block->copy == NULL) {
        return;
    }
    if (map) {
        memcpy(block->base, block->copy, block->size);
    } else {
        memcpy(block->copy, block->base, block->size);
        memset(block->base, SPOILT, block->size);
    }
}

static void run_fill(const struct fake_command *command)
{
    char *to = fake_there(command->context, command->to);
    size_t i;

    for (i = 0; i + command->pattern_size <= command->size; i += command->pattern_size) {
        memcpy(to + i, command->pattern, command->pattern_size);
    }
}

static void run_one(struct fake_command *command)
{
    switch (command->type) {
    case FAKE_MAP:
    case FAKE_UNMAP:
        run_map(fake_block_at(command->to), command->type == FAKE_MAP);
        break;
    case FAKE_COPY:
        memcpy(fake_there(command->context, command->to),
               fake_there(command->context, command->from), command->size);
        break;
    case FAKE_FILL:
        run_fill(command);
        break;
    case FAKE_MOVE:
        fake_there(command->context, command->to);
        break;
    case FAKE_RUN:
        fake_kernel_run(command);
        break;
    case FAKE_MARK:
        break;
    case FAKE_WAIT:
        if (!command->wait->done) {
            if (!command->wait->flushed) {
                fake_broken("a queue waits for an event whose queue was never flushed");
            }
            fake_run(command->wait->queue, command->wait);
        }
        unref(command->wait);
        break;
    }
}

void fake_run(struct _cl_command_queue *queue, const struct _cl_event *last)
{
    while (queue->commands != NULL) {
        struct fake_command *command = queue->commands;
        bool end                     = (last != NULL) && (command->event == last);

        queue->commands = command->next;
        run_one(command);
        if (command->event != NULL) {
            command->event->done = true;
            unref(command->event);
        }
        free(command);
        if (end) {
            return;
        }
    }
}

static struct fake_command *enqueue(struct _cl_command_queue *queue, enum fake_command_type type,
                                    cl_event *event_p)
{
    struct fake_command *command = calloc(1, sizeof(*command));
    struct fake_command **link   = &queue->commands;

    if (command == NULL) {
        abort();
    }
    command->type    = type;
    command->context = queue->context;
    if (event_p != NULL) {
        command->event             = calloc(1, sizeof(*command->event));
        command->event->queue      = queue;
        command->event->references = 2;
        gpu.objects++;
        *event_p = command->event;
    }
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = command;
    return command;
}

static cl_command_queue new_queue(cl_context context, cl_device_id device, cl_bitfield properties,
                                  cl_int *code_p)
{
    cl_command_queue queue = calloc(1, sizeof(*queue));

    gpu.objects++;
    queue->references = 1;
    queue->context    = context;
    queue->device     = device;
    queue->properties = properties;
    queue->next       = fake.queues;
    fake.queues       = queue;
    *code_p           = OPENCL_SUCCESS;
    (void)fake_answer(0);
    return queue;
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_ulong *properties, cl_int *code_p)
{
    if (fake_fails(__func__)) {
        *code_p = OPENCL_OUT_OF_RESOURCES;
        (void)fake_answer(0);
        return NULL;
    }
    return new_queue(context, device, 0, code_p);
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_bitfield flags,
                                      cl_int *code_p)
{
    if (fake_fails(__func__)) {
        *code_p = OPENCL_OUT_OF_RESOURCES;
        (void)fake_answer(0);
        return NULL;
    }
    return new_queue(context, device, flags, code_p);
}

cl_int clRetainCommandQueue(cl_command_queue queue)
{
    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    queue->references++;
    return fake_answer(OPENCL_SUCCESS);
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_uint what, size_t room, void *to,
                             size_t *size_p)
{
    BEGIN_OR_FAIL(OPENCL_INVALID_COMMAND_QUEUE);
    switch (what) {
    case OPENCL_QUEUE_CONTEXT:
        return fake_give(&queue->context, sizeof(queue->context), room, to, size_p);
    case OPENCL_QUEUE_DEVICE:
        return fake_give(&queue->device, sizeof(queue->device), room, to, size_p);
    case OPENCL_QUEUE_PROPERTIES:
        return fake_give(&queue->properties, sizeof(queue->properties), room, to, size_p);
    default:
        return fake_answer(OPENCL_INVALID_VALUE);
    }
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    bool fails = fake_fails(__func__);
    struct _cl_command_queue **link;

    queue->references--;
    if (queue->references > 0) {
        return fake_answer(fails ? OPENCL_OUT_OF_RESOURCES : OPENCL_SUCCESS);
    }
    if (queue->commands != NULL) {
        fake_broken("a queue is destroyed that has work, whose failure is lost");
    }
    fake_run(queue, NULL);
    for (link = &fake.queues; *link != queue; link = &(*link)->next) {
    }
    *link = queue->next;
    gpu.objects--;
    free(queue);
    return fake_answer(fails ? OPENCL_OUT_OF_RESOURCES : OPENCL_SUCCESS);
}

cl_int clFlush(cl_command_queue queue)
{
    struct fake_command *command;

    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    for (command = queue->commands; command != NULL; command = command->next) {
        if (command->event != NULL) {
            command->event->flushed = true;
        }
    }
    return fake_answer(OPENCL_SUCCESS);
}

/* A failure to wait is a device that is lost: what was enqueued is over all the same. */
cl_int clFinish(cl_command_queue queue)
{
    DO_ANYWAY(fake_run(queue, NULL));
}

cl_int clReleaseEvent(cl_event event)
{
    DO_ANYWAY(unref(event));
}

cl_int clGetEventInfo(cl_event event, cl_uint what, size_t room, void *to, size_t *size_p)
{
    cl_int queued = 3;

    BEGIN_OR_FAIL(OPENCL_INVALID_EVENT);
    if (what != OPENCL_EVENT_COMMAND_EXECUTION_STATUS) {
        return fake_answer(OPENCL_INVALID_VALUE);
    }
    queued = event->done ? OPENCL_COMPLETE : queued;
    return fake_give(&queued, sizeof(queued), room, to, size_p);
}

cl_int clEnqueueMarker(cl_command_queue queue, cl_event *event_p)
{
    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    enqueue(queue, FAKE_MARK, event_p);
    return fake_answer(OPENCL_SUCCESS);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events,
                                   cl_event *event_p)
{
    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    if (count != 0) {
        return fake_answer(OPENCL_INVALID_EVENT_WAIT_LIST);
    }
    enqueue(queue, FAKE_MARK, event_p);
    return fake_answer(OPENCL_SUCCESS);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events,
                                    cl_event *event_p)
{
    cl_uint i;

    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    for (i = 0; i < count; i++) {
        enqueue(queue, FAKE_WAIT, event_p)->wait = events[i];
        events[i]->references++;
    }
    return fake_answer(OPENCL_SUCCESS);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool wait, size_t offset,
                           size_t size, void *to, cl_uint count, const cl_event *events,
                           cl_event *event_p)
{
    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    fake_run(queue, NULL);
    memcpy(to, buffer->data + offset, size);
    return fake_answer(OPENCL_SUCCESS);
}

void *clSVMAlloc(cl_context context, cl_bitfield flags, size_t size, cl_uint align)
{
    struct fake_block *block;
    bool fails = fake_fails(__func__);

    if (fails || (size > gpu.capacity / 2) || (context->used_bytes + size > gpu.capacity) ||
        (fake.svm == 0) ||
        (((flags & OPENCL_MEM_SVM_FINE_GRAIN_BUFFER) != 0) &&
         ((fake.svm & OPENCL_DEVICE_SVM_FINE_GRAIN_BUFFER) == 0)) ||
        (((flags & OPENCL_MEM_SVM_ATOMICS) != 0) &&
         ((fake.svm & OPENCL_DEVICE_SVM_ATOMICS) == 0))) {
        (void)fake_answer(0);
        return NULL;
    }
    block          = calloc(1, sizeof(*block));
    block->context = context;
    block->size    = size;
    block->coarse  = (flags & OPENCL_MEM_SVM_FINE_GRAIN_BUFFER) == 0;
    block->base    = aligned_alloc(128, (size + 127) / 128 * 128);
    block->copy    = (block->coarse && fake.apart) ? malloc(size) : NULL;
    memset(block->base, SPOILT, size);
    context->used_bytes += size;
    block->next = fake.blocks;
    fake.blocks = block;
    gpu.objects++;
    (void)fake_answer(0);
    return block->base;
}

void clSVMFree(cl_context context, void *address)
{
    struct fake_block **link = &fake.blocks;
    struct fake_block *block;
    struct _cl_command_queue *queue;

    (void)fake_fails(__func__);
    while ((*link != NULL) && ((*link)->base != address)) {
        link = &(*link)->next;
    }
    block = *link;
    if ((block == NULL) || (block->context != context)) {
        fake_broken("%p is freed, which is no memory of the context", address);
        (void)fake_answer(0);
        return;
    }
    for (queue = fake.queues; queue != NULL; queue = queue->next) {
        if ((queue->context == context) && (queue->commands != NULL)) {
            fake_broken("%p is freed while commands wait that may use it", address);
        }
    }
    /* Where an unmap was made to fail, there was no other way. */
    if (block->mapped && (strcmp(gpu.failed, "clEnqueueSVMUnmap") != 0)) {
        fake_broken("%p is freed while it is mapped", address);
    }
    *link = block->next;
    context->used_bytes -= block->size;
    gpu.objects--;
    free(block->copy);
    free(block->base);
    free(block);
    (void)fake_answer(0);
}

static cl_int map(cl_command_queue queue, bool map_it, bool wait, void *address, cl_event *event_p)
{
    struct fake_block *block = fake_block_at(address);

    if (block == NULL) {
        return fake_answer(OPENCL_INVALID_VALUE);
    }
    if (block->mapped == map_it) {
        fake_broken("%s of %p that already is", map_it ? "map" : "unmap", address);
    }
    block->mapped                                               = map_it;
    enqueue(queue, map_it ? FAKE_MAP : FAKE_UNMAP, event_p)->to = address;
    if (wait) {
        fake_run(queue, NULL);
    }
    return fake_answer(OPENCL_SUCCESS);
}

cl_int clEnqueueSVMMap(cl_command_queue queue, cl_bool wait, cl_bitfield flags, void *address,
                       size_t size, cl_uint count, const cl_event *events, cl_event *event_p)
{
    BEGIN_OR_FAIL(OPENCL_MAP_FAILURE);
    return map(queue, true, wait != 0, address, event_p);
}

cl_int clEnqueueSVMUnmap(cl_command_queue queue, void *address, cl_uint count,
                         const cl_event *events, cl_event *event_p)
{
    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    if (event_p != NULL) {
        fake_broken("an unmap is asked for an event, which ends a process on PoCL 6");
    }
    return map(queue, false, false, address, event_p);
}

cl_int clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool wait, void *to, const void *from,
                          size_t size, cl_uint count, const cl_event *events, cl_event *event_p)
{
    struct fake_command *command;

    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    command       = enqueue(queue, FAKE_COPY, event_p);
    command->to   = to;
    command->from = from;
    command->size = size;
    return fake_answer(OPENCL_SUCCESS);
}

cl_int clEnqueueSVMMemFill(cl_command_queue queue, void *to, const void *pattern,
                           size_t pattern_size, size_t size, cl_uint count, const cl_event *events,
                           cl_event *event_p)
{
    struct fake_command *command;

    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    if ((((uintptr_t)to | size) % pattern_size) != 0) {
        return fake_answer(OPENCL_INVALID_VALUE);
    }
    command               = enqueue(queue, FAKE_FILL, event_p);
    command->to           = to;
    command->size         = size;
    command->pattern_size = pattern_size;
    memcpy(command->pattern, pattern, pattern_size);
    return fake_answer(OPENCL_SUCCESS);
}

cl_int clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint pointer_count, const void **pointers,
                              const size_t *sizes, cl_bitfield flags, cl_uint count,
                              const cl_event *events, cl_event *event_p)
{
    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    enqueue(queue, FAKE_MOVE, event_p)->to = (void *)(uintptr_t)pointers[0];
    return fake_answer(OPENCL_SUCCESS);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *first, const size_t *size, const size_t *local,
                              cl_uint count, const cl_event *events, cl_event *event_p)
{
    struct fake_command *command;

    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    if ((local != NULL) && ((*size % *local) != 0)) {
        return fake_answer(OPENCL_INVALID_WORK_GROUP_SIZE);
    }
    command         = enqueue(queue, FAKE_RUN, event_p);
    command->first  = (first == NULL) ? 0 : *first;
    command->size   = *size;
    command->kernel = *kernel;
    return fake_answer(OPENCL_SUCCESS);
}
