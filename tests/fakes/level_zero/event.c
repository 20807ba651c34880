/* SPDX-License-Identifier: BSD-3-Clause */
/* event.c: event pools and events. An event that is not signalled stays so until a caller waits, or
 * has asked often: then the work before it is done. */

#include "fake.h"
#include <stdlib.h>

enum { QUERIES_MOST = 16, EVENTS_MOST = 64 };

/* ---- pools ---- */

static ze_result_t pool_create(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
                               uint32_t count, ze_device_handle_t *devices,
                               ze_event_pool_handle_t *pool)
{
    BEGIN("zeEventPoolCreate");
    fake_check_type(desc->stype, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, "zeEventPoolCreate");
    if ((count > 1) || (desc->count > EVENTS_MOST) ||
        ((desc->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE) == 0)) {
        fake_broken("%u events of %u devices that the host does not see", desc->count, count);
    }
    *pool            = fake_fresh(sizeof(**pool), context);
    (*pool)->context = context;
    (*pool)->device  = (count == 0) ? NULL : devices[0];
    (*pool)->count   = desc->count;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t pool_destroy(ze_event_pool_handle_t pool)
{
    BEGIN_RELEASE("zeEventPoolDestroy");
    if (pool->events != 0) {
        fake_broken("a pool is destroyed that has %d events", pool->events);
    }
    return fake_gone(pool, pool->context);
}

/* ---- events ---- */

static ze_event_handle_t *link_of(ze_event_handle_t event)
{
    ze_event_handle_t *link = &fake.events;

    while ((*link != NULL) && (*link != event)) {
        link = &(*link)->next;
    }
    return link;
}

static bool is_event(ze_event_handle_t event, const char *call)
{
    bool found = *link_of(event) != NULL;

    if (!found) {
        fake_broken("%s of no event", call);
    }
    return found;
}

bool fake_takes_event(ze_command_list_handle_t list, ze_event_handle_t event)
{
    ze_device_handle_t device;

    if (!is_event(event, "a command")) {
        return false;
    }
    device = event->pool->device;
    if ((event->pool->context->driver != list->context->driver) ||
        ((device != NULL) && (device != list->device))) {
        fake_broken("an event of another driver or device than the command list's");
        return false;
    }
    return (event->pool->context == list->context) || !fake_lacks("contexts");
}

static ze_result_t event_create(ze_event_pool_handle_t pool, const ze_event_desc_t *desc,
                                ze_event_handle_t *event)
{
    uint64_t bit = (desc->index < EVENTS_MOST) ? (uint64_t)1 << desc->index : 0;

    BEGIN("zeEventCreate");
    fake_check_type(desc->stype, ZE_STRUCTURE_TYPE_EVENT_DESC, "zeEventCreate");
    if (desc->index >= pool->count) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    if ((pool->used & bit) != 0) {
        fake_broken("two events of one place in their pool");
    }
    *event           = fake_fresh(sizeof(**event), NULL);
    (*event)->pool   = pool;
    (*event)->index  = desc->index;
    (*event)->signal = desc->signal;
    (*event)->next   = fake.events;
    fake.events      = *event;
    pool->used |= bit;
    pool->events++;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t event_destroy(ze_event_handle_t event)
{
    BEGIN_RELEASE("zeEventDestroy");
    if (!is_event(event, "zeEventDestroy")) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    }
    if ((event->pending != 0) || (event->waits != 0)) {
        fake_broken("an event is destroyed that work will signal, or waits for");
    }
    *link_of(event) = event->next;
    event->pool->used &= ~((uint64_t)1 << event->index);
    event->pool->events--;
    return fake_gone(event, NULL);
}

/* What the device wrote before the event is to be seen by the host. */
static bool is_for_host(ze_event_handle_t event, const char *call)
{
    if (!is_event(event, call)) {
        return false;
    }
    if ((event->signal & ZE_EVENT_SCOPE_FLAG_HOST) == 0) {
        fake_broken("%s of an event whose signal the host does not see", call);
    }
    return true;
}

static ze_result_t event_wait(ze_event_handle_t event, uint64_t timeout)
{
    ze_result_t code;

    BEGIN("zeEventHostSynchronize");
    if (!is_for_host(event, "zeEventHostSynchronize")) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    }
    code = fake_run_until(event);
    order_complete(&event->clock);
    return fake_leave(gpu.lost ? ZE_RESULT_ERROR_DEVICE_LOST : code);
}

static ze_result_t event_query(ze_event_handle_t event)
{
    BEGIN("zeEventQueryStatus");
    if (!is_for_host(event, "zeEventQueryStatus")) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    }
    if ((event->pending > 0) && (++event->queries == QUERIES_MOST)) {
        (void)fake_run_until(event);
        event->queries = 0;
    }
    if (event->signalled) {
        order_complete(&event->clock);
    }
    return fake_leave(event->signalled ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY);
}

static ze_result_t event_reset(ze_event_handle_t event)
{
    BEGIN("zeEventHostReset");
    if (!is_event(event, "zeEventHostReset")) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    }
    if ((event->pending != 0) || (event->waits != 0)) {
        fake_broken("an event is reset that work will signal, or waits for");
    }
    event->signalled = false;
    event->queries   = 0;
    return fake_leave(ZE_RESULT_SUCCESS);
}

void fake_fill_event_pool(ze_event_pool_dditable_t *table)
{
    table->pfnCreate  = pool_create;
    table->pfnDestroy = pool_destroy;
}

void fake_fill_event(ze_event_dditable_t *table)
{
    table->pfnCreate          = event_create;
    table->pfnDestroy         = event_destroy;
    table->pfnHostSynchronize = event_wait;
    table->pfnHostReset       = event_reset;
    table->pfnQueryStatus     = event_query;
}
