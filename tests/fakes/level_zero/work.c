/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c: command lists, modules and kernels. Nothing is done before a caller waits for an event;
 * then everything up to its barrier is, the commands between two barriers from the last to the
 * first. A barrier that waits for an event orders what follows, and not what precedes. A kernel
 * that touches what it may not leaves the device lost. */

#include "fake.h"
#include <stdlib.h>
#include <string.h>

/* ---- doing ---- */

static ze_result_t run_launch(ze_device_handle_t device, const struct fake_command *c)
{
    ze_result_t code = ZE_RESULT_SUCCESS;
    uint64_t i;

    for (i = 0; (code == ZE_RESULT_SUCCESS) && (i < c->work_items); i++) {
        code = fake_spirv_run(device, c, i);
    }
    if (code != ZE_RESULT_SUCCESS) {
        gpu.lost = true;
    }
    return code;
}

static ze_result_t run_one(ze_command_list_handle_t list, const struct fake_command *c)
{
    void *to         = fake_any(list->device, c->to, c->size);
    const void *from = fake_any(list->device, c->from, c->size);

    switch (c->what) {
    case FAKE_COPY:
        if ((to == NULL) || (from == NULL)) {
            return ZE_RESULT_ERROR_DEVICE_LOST;
        }
        memcpy(to, from, c->size);
        return ZE_RESULT_SUCCESS;
    case FAKE_FILL:
        if (to == NULL) {
            return ZE_RESULT_ERROR_DEVICE_LOST;
        }
        memset(to, c->byte, c->size);
        return ZE_RESULT_SUCCESS;
    case FAKE_LAUNCH:
        return run_launch(list->device, c);
    default:
        return ZE_RESULT_SUCCESS;
    }
}

static void drop_command(struct fake_command *c)
{
    if (c->event != NULL) {
        c->event->pending--;
    }
    if (c->awaited != NULL) {
        c->awaited->waits--;
    }
    free(c->module);
    free(c);
}

/* From the last to the first of those before the barrier. */
static ze_result_t run_backwards(ze_command_list_handle_t list, struct fake_command *c,
                                 const struct fake_command *barrier)
{
    ze_result_t code = ZE_RESULT_SUCCESS;

    if (c == barrier) {
        return code;
    }
    code = run_backwards(list, c->next, barrier);
    return (code == ZE_RESULT_SUCCESS) ? run_one(list, c) : code;
}

/* Up to the next barrier, which it removes. */
static ze_result_t run_stretch(ze_command_list_handle_t list)
{
    struct fake_command **link = &list->first;
    struct fake_command *barrier;
    ze_result_t code = ZE_RESULT_SUCCESS;

    while ((*link != NULL) && ((*link)->what != FAKE_BARRIER)) {
        link = &(*link)->next;
    }
    barrier = *link;
    if ((barrier != NULL) && (barrier->awaited != NULL)) {
        code = fake_run_until(barrier->awaited);
    } else {
        code = run_backwards(list, list->first, barrier);
        while (list->first != barrier) {
            struct fake_command *done = list->first;
            list->first               = done->next;
            drop_command(done);
        }
        link = &list->first;
    }
    if (barrier != NULL) {
        *link = barrier->next;
        if (barrier->event != NULL) {
            barrier->event->signalled = true;
        }
        drop_command(barrier);
    }
    if (!fake_busy()) {
        fake_shared_open(true);
    }
    return code;
}

ze_result_t fake_run_until(ze_event_handle_t event)
{
    ze_command_list_handle_t list;
    ze_result_t code = ZE_RESULT_SUCCESS;

    for (list = fake.lists; (list != NULL) && !event->signalled; list = list->next) {
        struct fake_command *c = list->first;
        while ((c != NULL) && (c->event != event)) {
            c = c->next;
        }
        while ((c != NULL) && !event->signalled) {
            ze_result_t now = run_stretch(list);
            code            = (code == ZE_RESULT_SUCCESS) ? now : code;
        }
    }
    if (!event->signalled) {
        fake_broken("a wait for an event that nothing will signal");
        return ZE_RESULT_NOT_READY;
    }
    return code;
}

bool fake_busy(void)
{
    ze_command_list_handle_t list;
    struct fake_command *c;

    for (list = fake.lists; list != NULL; list = list->next) {
        for (c = list->first; c != NULL; c = c->next) {
            if (c->what != FAKE_BARRIER) {
                return true;
            }
        }
    }
    return false;
}

static bool names(const struct fake_command *c, const struct fake_memory *m)
{
    int i;

    if ((c->to - m->base < m->size) || (c->from - m->base < m->size)) {
        return c->what != FAKE_BARRIER;
    }
    for (i = 2; (c->what == FAKE_LAUNCH) && (i < 5); i++) {
        if (c->arguments[i] - m->base < m->size) {
            return true;
        }
    }
    return false;
}

bool fake_is_used(const struct fake_memory *m)
{
    ze_command_list_handle_t list;
    struct fake_command *c;

    for (list = fake.lists; list != NULL; list = list->next) {
        for (c = list->first; c != NULL; c = c->next) {
            if (names(c, m) && !gpu.lost) {
                return true;
            }
        }
    }
    return false;
}

/* ---- lists ---- */

static ze_result_t list_create(ze_context_handle_t context, ze_device_handle_t device,
                               const ze_command_queue_desc_t *desc, ze_command_list_handle_t *list)
{
    BEGIN("zeCommandListCreateImmediate");
    fake_check_type(desc->stype, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                    "zeCommandListCreateImmediate");
    if ((desc->ordinal != 1) || (desc->index != 0)) {
        fake_broken("a queue of group %u, number %u, cannot run kernels", desc->ordinal,
                    desc->index);
    }
    if (desc->mode != ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) {
        fake_broken("a queue that waits at every command");
    }
    *list            = fake_fresh(sizeof(**list), context);
    (*list)->context = context;
    (*list)->device  = device;
    (*list)->next    = fake.lists;
    fake.lists       = *list;
    order_open(&(*list)->order);
    (*list)->order.by_barriers = true;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t list_destroy(ze_command_list_handle_t list)
{
    ze_command_list_handle_t *link = &fake.lists;
    struct fake_command *c;

    BEGIN_RELEASE("zeCommandListDestroy");
    while (*link != list) {
        link = &(*link)->next;
    }
    *link = list->next;
    for (c = list->first; c != NULL; c = list->first) {
        if ((c->what != FAKE_BARRIER) && !gpu.lost && (gpu.failed[0] == '\0')) {
            fake_broken("a queue is destroyed that has work");
        }
        list->first = c->next;
        drop_command(c);
    }
    order_close(&list->order);
    if (!fake_busy()) {
        fake_shared_open(true);
    }
    return fake_gone(list, list->context);
}

static struct fake_command *add(ze_command_list_handle_t list, int what)
{
    struct fake_command *c     = calloc(1, sizeof(*c));
    struct fake_command **link = &list->first;

    while (*link != NULL) {
        link = &(*link)->next;
    }
    c->what = what;
    *link   = c;
    return c;
}

static ze_result_t append_barrier(ze_command_list_handle_t list, ze_event_handle_t event,
                                  uint32_t wait_count, ze_event_handle_t *waits)
{
    struct fake_command *c;

    BEGIN("zeCommandListAppendBarrier");
    if (wait_count > 1) {
        fake_broken("waiting for several events is not pretended");
    }
    if ((event != NULL) && (event->signalled || (event->pending > 0))) {
        fake_broken("an event is used that was not reset");
    }
    if (((event != NULL) && !fake_takes_event(list, event)) ||
        ((wait_count > 0) && !fake_takes_event(list, waits[0]))) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    }
    c          = add(list, FAKE_BARRIER);
    c->event   = event;
    c->awaited = (wait_count > 0) ? waits[0] : NULL;
    if (c->awaited != NULL) {
        c->awaited->waits++;
        order_join(&list->order, &c->awaited->clock);
    } else {
        order_add(&list->order);
    }
    if (event != NULL) {
        event->pending++;
        event->clock = list->order.clock;
    }
    return fake_leave(ZE_RESULT_SUCCESS);
}

/* By the command that was just added. Memory of the program's own is left out, and so is what comes
 * after a failure. */
static void use(ze_command_list_handle_t list, const void *pointer, size_t size, bool writes)
{
    bool judged = gpu.judges_order && (fake_find((uintptr_t)pointer) != NULL) && !gpu.lost &&
                  (gpu.failed[0] == '\0');

    if (judged && !order_use(&list->order, (uintptr_t)pointer, size, writes)) {
        fake_broken("nothing orders two commands that use the %zu bytes at %p", size, pointer);
    }
}

static ze_result_t append_copy(ze_command_list_handle_t list, void *to, const void *from,
                               size_t size, ze_event_handle_t event, uint32_t wait_count,
                               ze_event_handle_t *waits)
{
    struct fake_command *c;

    BEGIN("zeCommandListAppendMemoryCopy");
    if ((fake_any(list->device, (uintptr_t)to, size) == NULL) ||
        (fake_any(list->device, (uintptr_t)from, size) == NULL)) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    c       = add(list, FAKE_COPY);
    c->to   = (uintptr_t)to;
    c->from = (uintptr_t)from;
    c->size = size;
    use(list, to, size, true);
    use(list, from, size, false);
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t append_fill(ze_command_list_handle_t list, void *to, const void *pattern,
                               size_t pattern_size, size_t size, ze_event_handle_t event,
                               uint32_t wait_count, ze_event_handle_t *waits)
{
    struct fake_command *c;

    BEGIN("zeCommandListAppendMemoryFill");
    if ((pattern_size != 1) || (fake_find((uintptr_t)to) == NULL) ||
        (fake_any(list->device, (uintptr_t)to, size) == NULL)) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    c       = add(list, FAKE_FILL);
    c->to   = (uintptr_t)to;
    c->size = size;
    memcpy(&c->byte, pattern, 1);
    use(list, to, size, true);
    return fake_leave(ZE_RESULT_SUCCESS);
}

static bool is_used_elsewhere(const struct fake_memory *m, ze_command_list_handle_t list)
{
    ze_command_list_handle_t other;
    const struct fake_command *c;

    for (other = fake.lists; other != NULL; other = other->next) {
        for (c = other->first; (other != list) && (c != NULL); c = c->next) {
            if (names(c, m)) {
                return true;
            }
        }
    }
    return false;
}

static ze_result_t move(ze_command_list_handle_t list, const void *pointer, size_t size)
{
    const struct fake_memory *m = fake_find((uintptr_t)pointer);
    struct fake_command *c;

    if ((m == NULL) || (m->kind != FAKE_MANAGED) || (m->driver != list->device->driver)) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (is_used_elsewhere(m, list) && !gpu.lost && (gpu.failed[0] == '\0')) {
        fake_broken("memory moves before another queue has done its work on it");
    }
    c       = add(list, FAKE_MOVE);
    c->to   = (uintptr_t)pointer;
    c->size = size;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t append_prefetch(ze_command_list_handle_t list, const void *pointer, size_t size)
{
    BEGIN("zeCommandListAppendMemoryPrefetch");
    return fake_leave(move(list, pointer, size));
}

static ze_result_t append_advise(ze_command_list_handle_t list, ze_device_handle_t device,
                                 const void *pointer, size_t size, ze_memory_advice_t advice)
{
    BEGIN("zeCommandListAppendMemAdvise");
    if (advice != ZE_MEMORY_ADVICE_SET_PREFERRED_LOCATION) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_ENUMERATION);
    }
    return fake_leave(move(list, pointer, size));
}

static ze_result_t append_launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                 const ze_group_count_t *groups, ze_event_handle_t event,
                                 uint32_t wait_count, ze_event_handle_t *waits)
{
    struct fake_command *c;

    BEGIN("zeCommandListAppendLaunchKernel");
    if ((kernel->module->device != list->device) || (groups->groupCountX == 0) ||
        (groups->groupCountX > 64) || (groups->groupCountY != 1) || (groups->groupCountZ != 1) ||
        (kernel->group == 0) || (kernel->set != 0x1f)) {
        fake_broken("a kernel is started with %u groups of %u and arguments %#x",
                    groups->groupCountX, kernel->group, kernel->set);
        return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    c             = add(list, FAKE_LAUNCH);
    c->module     = malloc(sizeof(*c->module));
    *c->module    = *kernel->module;
    c->indirect   = kernel->indirect;
    c->work_items = (uint64_t)groups->groupCountX * kernel->group;
    memcpy(c->arguments, kernel->arguments, sizeof(c->arguments));
    fake_shared_open(false);
    return fake_leave(ZE_RESULT_SUCCESS);
}

/* ---- modules and kernels ---- */

/* A loader that wraps handles loses the log of a failure: it is no leak of the backend's. */
static ze_module_build_log_handle_t last_log;

static ze_result_t module_create(ze_context_handle_t context, ze_device_handle_t device,
                                 const ze_module_desc_t *desc, ze_module_handle_t *module,
                                 ze_module_build_log_handle_t *log)
{
    ze_result_t code    = fake_enter("zeModuleCreate", true);
    const char *problem = NULL;
    size_t count        = desc->inputSize / 4;

    fake_check_type(desc->stype, ZE_STRUCTURE_TYPE_MODULE_DESC, "zeModuleCreate");
    if ((desc->format != ZE_MODULE_FORMAT_IL_SPIRV) || (count > FAKE_SPIRV_WORDS)) {
        problem = "no SPIR-V";
    } else {
        problem = fake_spirv_check((const uint32_t *)desc->pInputModule, count, NULL);
    }
    if ((problem == NULL) && fake_lacks("fp64") &&
        fake_spirv_has_fp64((const uint32_t *)desc->pInputModule, count)) {
        problem = "double precision, which the device lacks";
    }
    if (problem != NULL) {
        fake_broken("SPIR-V: %s", problem);
        gpu.forced = ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    }
    if (log != NULL) {
        *log     = fake_fresh(sizeof(**log), NULL);
        last_log = *log;
        strcpy((*log)->text, "pretended words\nmore");
    }
    if (gpu.forced == ZE_RESULT_SUCCESS) {
        *module            = fake_fresh(sizeof(**module), context);
        (*module)->context = context;
        (*module)->device  = device;
        (*module)->count   = count;
        memcpy((*module)->words, desc->pInputModule, count * 4);
    }
    return fake_leave(code);
}

static ze_result_t module_destroy(ze_module_handle_t module)
{
    BEGIN_RELEASE("zeModuleDestroy");
    if (module->kernels != 0) {
        fake_broken("a module is destroyed that has kernels");
    }
    return fake_gone(module, module->context);
}

static ze_result_t log_string(ze_module_build_log_handle_t log, size_t *size, char *text)
{
    BEGIN("zeModuleBuildLogGetString");
    *size = strlen(log->text) + 1;
    if (text != NULL) {
        memcpy(text, log->text, *size);
    }
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t log_destroy(ze_module_build_log_handle_t log)
{
    BEGIN_RELEASE("zeModuleBuildLogDestroy");
    last_log = (last_log == log) ? NULL : last_log;
    return fake_gone(log, NULL);
}

static ze_result_t kernel_create(ze_module_handle_t module, const ze_kernel_desc_t *desc,
                                 ze_kernel_handle_t *kernel)
{
    BEGIN("zeKernelCreate");
    fake_check_type(desc->stype, ZE_STRUCTURE_TYPE_KERNEL_DESC, "zeKernelCreate");
    if (fake_spirv_check(module->words, module->count, desc->pKernelName) != NULL) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    }
    *kernel           = fake_fresh(sizeof(**kernel), NULL);
    (*kernel)->module = module;
    module->kernels++;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t kernel_destroy(ze_kernel_handle_t kernel)
{
    BEGIN_RELEASE("zeKernelDestroy");
    kernel->module->kernels--;
    return fake_gone(kernel, NULL);
}

static ze_result_t kernel_group(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z)
{
    BEGIN("zeKernelSetGroupSize");
    if ((x == 0) || (x > 96) || (y != 1) || (z != 1)) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    }
    kernel->group = x;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t kernel_argument(ze_kernel_handle_t kernel, uint32_t index, size_t size,
                                   const void *value)
{
    BEGIN("zeKernelSetArgumentValue");
    if (index > 4) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    }
    if (size != 8) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    }
    if ((value == NULL) && (index < 2)) {
        fake_broken("a number of a kernel has no value");
    }
    kernel->arguments[index] = 0;
    if (value != NULL) {
        memcpy(&kernel->arguments[index], value, size);
    }
    /* An address of zero is no memory: it is NULL that stands for none. */
    if ((index >= 2) && (value != NULL) &&
        (fake_reach(kernel->module->device, kernel->arguments[index], 1) == NULL)) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    kernel->set |= 1u << index;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t kernel_indirect(ze_kernel_handle_t kernel,
                                   ze_kernel_indirect_access_flags_t flags)
{
    BEGIN("zeKernelSetIndirectAccess");
    kernel->indirect = flags;
    return fake_leave(ZE_RESULT_SUCCESS);
}

void fake_fill_list(ze_command_list_dditable_t *table)
{
    table->pfnCreateImmediate      = list_create;
    table->pfnDestroy              = list_destroy;
    table->pfnAppendBarrier        = append_barrier;
    table->pfnAppendMemoryCopy     = append_copy;
    table->pfnAppendMemoryFill     = append_fill;
    table->pfnAppendMemoryPrefetch = append_prefetch;
    table->pfnAppendMemAdvise      = append_advise;
    table->pfnAppendLaunchKernel   = append_launch;
}

void fake_fill_module(ze_module_dditable_t *table)
{
    table->pfnCreate  = module_create;
    table->pfnDestroy = module_destroy;
}

void fake_fill_build_log(ze_module_build_log_dditable_t *table)
{
    table->pfnDestroy   = log_destroy;
    table->pfnGetString = log_string;
}

void fake_fill_kernel(ze_kernel_dditable_t *table)
{
    table->pfnCreate            = kernel_create;
    table->pfnDestroy           = kernel_destroy;
    table->pfnSetGroupSize      = kernel_group;
    table->pfnSetArgumentValue  = kernel_argument;
    table->pfnSetIndirectAccess = kernel_indirect;
}
