/* SPDX-License-Identifier: BSD-3-Clause */
/* late.c: queues that run late (MEMSPAN_EMU_QUEUES=late:SEED).
 *
 * A command waits in its queue. Calls of the backend give the device some commands, at random: the
 * next of any queue whose wait, if it is one, is for commands that the device was given before. A
 * program with one thread has the same order in each run of a seed. A program that waits for its
 * work without a call of the library waits for ever.
 *
 * Invariant: what a command follows by the rules is before it in the ring. */

#include "backends/emu/emu.h"
#include <stdlib.h>
#include <string.h>

enum { PENDING_MAX = 64, ONE_IN = 4 };

struct emu_pending {
    struct emu_pending *next;
    struct emu_command command;
    bool by_host;
    struct emu_queue *awaited; /* a wait, until that queue has given so many */
    uint64_t position;
};

static unsigned pick(struct emu *emu, unsigned n)
{
    emu->random ^= emu->random << 13;
    emu->random ^= emu->random >> 7;
    emu->random ^= emu->random << 17;
    return (unsigned)(emu->random >> 33) % n;
}

void emu_do_by_host(const struct emu *emu, const struct emu_command *command)
{
    void *to = emu_arena_window(emu, (const void *)(uintptr_t)command->z);

    if (command->op == EMU_OP_COPY) {
        memcpy(to, emu_arena_window(emu, (const void *)(uintptr_t)command->x), command->count);
    } else {
        memset(to, (int)command->kernel, command->count);
    }
}

/* A device that is lost has no order to keep: waiting for it reports that. */
static void give(struct emu_queue *q, const struct emu_pending *p)
{
    struct emu_device *device = q->device;
    uint64_t number           = 0;

    if (p->awaited != NULL) {
        number = p->awaited->submitted;
    } else if (p->by_host) {
        if (emu_process_wait(device, q->submitted) == MEMSPAN_OK) {
            emu_do_by_host(device->emu, &p->command);
        }
    } else {
        (void)emu_process_submit(device, &p->command, &number);
    }
    q->submitted = (q->submitted < number) ? number : q->submitted;
    if (p->command.op == EMU_OP_KERNEL) {
        q->launched = q->submitted;
        q->launches_pending--;
    }
}

static void run_first(struct emu_queue *q)
{
    struct emu_pending *p = q->first;

    give(q, p);
    q->first = p->next;
    q->last  = (q->first == NULL) ? &q->first : q->last;
    q->taken++;
    free(p);
}

static bool is_ready(const struct emu_queue *q)
{
    return (q->first != NULL) &&
           ((q->first->awaited == NULL) || (q->first->awaited->taken >= q->first->position));
}

/* What it waits for comes first. Waits are for earlier calls: this ends. */
static void run_to(struct emu_queue *q, uint64_t position)
{
    while (q->taken < position) {
        if (!is_ready(q)) {
            run_to(q->first->awaited, q->first->position);
        }
        run_first(q);
    }
}

void emu_late_run(struct emu_queue *queue)
{
    run_to(queue, queue->added);
}

void emu_late_run_device(struct emu_device *device)
{
    struct emu_queue *q;

    emu_late_run(&device->own);
    for (q = device->queues; q != NULL; q = q->next) {
        emu_late_run(q);
    }
}

static void run_some_of(struct emu *emu, struct emu_queue *q)
{
    while (is_ready(q) && (pick(emu, ONE_IN) == 0)) {
        run_first(q);
    }
}

void emu_late_run_some(struct emu *emu)
{
    struct emu_queue *q;
    int i;

    for (i = 0; emu->is_late && (i < emu->device_count); i++) {
        run_some_of(emu, &emu->devices[i].own);
        for (q = emu->devices[i].queues; q != NULL; q = q->next) {
            run_some_of(emu, q);
        }
    }
}

static memspan_status_t add(struct emu_queue *q, const struct emu_pending *pending)
{
    struct emu_pending *p = malloc(sizeof(*p));

    if (p == NULL) {
        return emu_refuse(q->device->emu, MEMSPAN_ERR_NO_MEMORY, NULL, "no memory for a command");
    }
    *p       = *pending;
    p->next  = NULL;
    *q->last = p;
    q->last  = &p->next;
    q->added++;
    if (q->added - q->taken > PENDING_MAX) {
        run_to(q, q->taken + 1);
    }
    emu_late_run_some(q->device->emu);
    return MEMSPAN_OK;
}

memspan_status_t emu_late_add(struct emu_queue *queue, const struct emu_command *command,
                              bool by_host)
{
    bool is_launch = (command->op == EMU_OP_KERNEL);
    memspan_status_t status;

    queue->launches_pending += is_launch ? 1 : 0;
    status = add(queue, &(struct emu_pending){.command = *command, .by_host = by_host});
    if (status != MEMSPAN_OK) {
        queue->launches_pending -= is_launch ? 1 : 0;
    }
    return status;
}

memspan_status_t emu_late_wait(struct emu_queue *queue, struct emu_queue *awaited,
                               uint64_t position)
{
    return add(queue, &(struct emu_pending){.awaited = awaited, .position = position});
}

void emu_late_drop(struct emu_queue *queue)
{
    struct emu_pending *next;

    for (; queue->first != NULL; queue->first = next) {
        next = queue->first->next;
        free(queue->first);
    }
    queue->last  = &queue->first;
    queue->taken = queue->added;
}
