/* SPDX-License-Identifier: BSD-3-Clause */
/* emu.c: the table of the emulated devices; opening and closing.
 *
 * Order matters in open(): the processes are made while the arena is mapped and nothing of it is
 * open; each gives up the program's memory at once. The signal handler comes last, so that a
 * failure leaves nothing behind. */

#include "backends/emu/emu.h"
#include "core/base/option.h"
#include "core/base/process.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

memspan_status_t emu_refuse(const struct emu *emu, memspan_status_t status, const char *hint,
                            const char *format, ...)
{
    char text[400];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return emu->services->fail(status, EMU_NAME, "", 0, "", hint, "%s", text);
}

memspan_status_t emu_system_error(const struct emu *emu, const char *call, const char *format, ...)
{
    int error = errno;
    char text[400];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return emu->services->fail((error == ENOMEM) ? MEMSPAN_ERR_NO_MEMORY : MEMSPAN_ERR_DRIVER,
                               EMU_NAME, call, error, strerrordesc_np(error), NULL, "%s", text);
}

memspan_status_t emu_enter_lost(void *state, int ordinal, struct emu_device **device_p)
{
    struct emu *emu = state;

    if (getpid() != emu->pid) {
        return emu_refuse(emu, MEMSPAN_ERR_FORKED,
                          "start the child with exec, or use devices in one process alone",
                          "emulated devices cannot be used after fork");
    }
    if ((ordinal < 0) || (ordinal >= emu->device_count)) {
        return emu_refuse(emu, MEMSPAN_ERR_NOT_FOUND, NULL, "there is no emulated device %d of %d",
                          ordinal, emu->device_count);
    }
    *device_p = &emu->devices[ordinal];
    return MEMSPAN_OK;
}

memspan_status_t emu_enter(void *state, int ordinal, struct emu_device **device_p)
{
    struct emu_device *device = NULL;
    memspan_status_t status   = emu_enter_lost(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (atomic_load_explicit(&device->lost, memory_order_acquire)) {
        return emu_process_lost(device);
    }
    *device_p = device;
    return MEMSPAN_OK;
}

static void emu_close(void *state)
{
    struct emu *emu = state;
    struct emu_block *block;
    int i;

    msp_region_unwatch(&emu->watcher);
    emu_small_watch(NULL);
    if (getpid() == emu->pid) {
        emu_fault_unwatch(emu);
        for (i = 0; i < emu->device_count; i++) {
            emu_process_stop(&emu->devices[i]);
        }
        emu_arena_unmap(emu);
    }
    for (i = 0; i < emu->device_count; i++) {
        emu_queues_free(&emu->devices[i]);
    }
    while ((block = emu->records) != NULL) {
        emu->records = block->older;
        free(block->accesses);
        free(block);
    }
    free(emu);
}

static memspan_status_t start(struct emu *emu)
{
    memspan_status_t status = emu_arena_map(emu);
    int i;

    for (i = 0; (status == MEMSPAN_OK) && (i < emu->device_count); i++) {
        status = emu_process_start(&emu->devices[i]);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    /* A forked child has no devices: its accesses to their memory strike as well. */
    madvise(emu->arena, emu->arena_bytes, MADV_DONTFORK);
    return emu_fault_watch(emu);
}

static memspan_status_t emu_open(const memspan_services_t *services, void **state_p)
{
    struct emu *emu;
    memspan_status_t status;
    int count = 0;
    int i;

    /* valgrind is in the program's memory, which a device process gives up: it would hang. */
    if (msp_valgrind_runs()) {
        return services->fail(MEMSPAN_ERR_OFF, EMU_NAME, "", 0, "",
                              "run it without valgrind: the devices check accesses themselves, and "
                              "MEMSPAN_DEBUG=guard the host's memory",
                              "emulated devices cannot be processes under valgrind");
    }
    emu = calloc(1, sizeof(*emu));
    if (emu == NULL) {
        return services->fail(MEMSPAN_ERR_NO_MEMORY, EMU_NAME, "calloc", 0, "", NULL,
                              "no memory for the devices' records");
    }
    emu->services       = services;
    emu->pid            = getpid();
    emu->file           = -1;
    emu->capacity_bytes = services->option_number("MEMSPAN_EMU_MEMORY");
    pthread_mutex_init(&emu->lock, NULL);
    pthread_mutex_init(&emu->import_lock, NULL);
    status = emu_count_parse(emu, services->option("MEMSPAN_DEVICES"), &count);
    for (i = 0; i < count; i++) {
        emu->devices[i] = (struct emu_device){.emu = emu, .ordinal = i, .doorbell = -1};
        emu_queue_set_up(&emu->devices[i].own, &emu->devices[i]);
        pthread_mutex_init(&emu->devices[i].lock, NULL);
    }
    emu->device_count = count;
    if (status == MEMSPAN_OK) {
        status = emu_peers_parse(emu, services->option("MEMSPAN_EMU_PEERS"));
    }
    if (status == MEMSPAN_OK) {
        status = emu_queues_parse(emu, services->option("MEMSPAN_EMU_QUEUES"));
    }
    if (status == MEMSPAN_OK) {
        status = start(emu);
    }
    if (status != MEMSPAN_OK) {
        emu_close(emu);
        return status;
    }
    if (strcmp(services->option("MEMSPAN_EMU_OFFLOAD"), "on") == 0) {
        emu->watcher = (struct msp_region_watcher){.begin        = emu_region_begin,
                                                   .end          = emu_region_end,
                                                   .unwaited     = emu_region_unwaited,
                                                   .waited       = emu_region_waited,
                                                   .state        = emu,
                                                   .device_count = count};
        (void)msp_region_watch(&emu->watcher);
    }
    for (i = 0; i < count; i++) {
        services->log(MEMSPAN_LOG_INFO, EMU_NAME, "emu%d has %llu bytes and is process %d", i,
                      (unsigned long long)emu->capacity_bytes, (int)emu->devices[i].process);
    }
    *state_p = emu;
    return MEMSPAN_OK;
}

static int emu_device_count(void *state)
{
    const struct emu *emu = state;

    return emu->device_count;
}

static const memspan_backend_option_t options[] = {
    {"MEMSPAN_EMU_MEMORY", MEMSPAN_OPTION_SIZE, "size", "1g", "memory of each emulated device"},
    {"MEMSPAN_EMU_PEERS", MEMSPAN_OPTION_TEXT, "all|none|A-B,A>B", "all",
     "emulated devices that reach each other's memory (A-B), or one that of another (A>B)"},
    {"MEMSPAN_EMU_OFFLOAD", MEMSPAN_OPTION_CHOICE, "off|on", "on",
     "emulated devices stand in for the OpenMP runtime's, where these are the host's processors"},
    {"MEMSPAN_EMU_QUEUES", MEMSPAN_OPTION_TEXT, "in_order|late[:SEED]", "in_order",
     "whether queues of emulated devices run late, in an order of a seed"},
};

extern const memspan_backend_t msp_backend_emu;
const memspan_backend_t msp_backend_emu = {
    .abi              = MEMSPAN_BACKEND_ABI,
    .struct_size      = sizeof(memspan_backend_t),
    .name             = EMU_NAME,
    .title            = "devices made of host memory, which enforce the rules",
    .flags            = MEMSPAN_BACKEND_OPT_IN | MEMSPAN_BACKEND_CHECKS,
    .open             = emu_open,
    .close            = emu_close,
    .device_count     = emu_device_count,
    .device_describe  = emu_device_describe,
    .reach            = emu_reach,
    .reach_source     = emu_reach_source,
    .alloc            = emu_alloc,
    .free             = emu_free,
    .import           = emu_import,
    .release          = emu_release,
    .pointer_describe = emu_pointer_describe,
    .copy             = emu_copy,
    .fill             = emu_fill,
    .synchronize      = emu_synchronize,
    .queue_create     = emu_queue_create,
    .queue_destroy    = emu_queue_destroy,
    .prefetch         = emu_prefetch,
    .launch           = emu_launch,
    .ipc_export       = emu_ipc_export,
    .ipc_import       = emu_ipc_import,
    .ipc_close        = emu_ipc_close,
    .event_record     = emu_event_record,
    .event_wait       = emu_event_wait,
    .event_done       = emu_event_done,
    .event_destroy    = emu_event_destroy,
    .attach           = emu_attach,
    .queue_allocated  = emu_queue_allocated,
    .queue_freed      = emu_queue_freed,
    .host_open        = emu_host_open,
    .host_close       = emu_host_close,
    .options          = options,
    .option_count     = sizeof(options) / sizeof(options[0]),
};
