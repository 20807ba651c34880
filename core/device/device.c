/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: device numbers.
 *
 * A backend that numbers devices for the OpenMP runtime comes first, as 0 .. n-1; the number n then
 * means the host, and devices of our own follow from n+1, if MEMSPAN_DEVICES names them. A device
 * of the runtime that a driver's own backend knows is served by that backend, which has more kinds
 * of memory and more facts. Without such a runtime, MEMSPAN_DEVICES or the backends' own order
 * counts from 0; hardware that two backends find is the first one's. */

#include "core/device/device.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/base/process.h"
#include "core/base/region.h"
#include "core/base/text.h"
#include "core/device/driver.h"
#include "core/topology/topology.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES_MAX = 256 };

static struct msp_device host;
static bool host_ready;
static pthread_once_t host_once = PTHREAD_ONCE_INIT;
static char host_problem[256];

static struct msp_device devices[DEVICES_MAX] MSP_SPARSE;
static int device_count;
static int host_number;
static memspan_status_t table_status;
static char table_problem[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;
/* This thread is in load_table(). A driver that is being opened, here or on a thread of its own,
 * may call us for the number of devices (libomp calls __tgt_get_num_devices of any library): none
 * yet.
 */
static _Thread_local bool loading;

/* Fill device->info; the driver leaves out unknown values. */
static memspan_status_t describe(struct msp_device *device)
{
    memspan_device_info_t *info = &device->info;
    memspan_status_t status;

    info->struct_size    = sizeof(*info);
    info->numa_node      = -1;
    info->capacity_bytes = info->free_bytes = info->alloc_max_bytes = MEMSPAN_UNKNOWN;
    status = device->table->device_describe(device->state, device->ordinal, info);
    if ((info->capabilities & MEMSPAN_CAN_UNIFIED_PHYSICAL) == 0) {
        /* Managed memory that never moved would be of another kind. */
        info->kinds_migratable |= info->kinds & (1u << MEMSPAN_KIND_MANAGED);
    }
    info->number  = device->number;
    info->ordinal = device->ordinal;
    snprintf(info->backend, sizeof(info->backend), "%s", device->table->name);
    return status;
}

static void load_host_now(void *unused)
{
    const struct msp_backend_slot *slot = msp_backend_of_host();

    (void)unused;
    if (slot != NULL) {
        host = (struct msp_device){
            .table = slot->table, .state = slot->state, .number = MEMSPAN_HOST, .ordinal = 0};
        host_ready = true;
    } else {
        snprintf(host_problem, sizeof(host_problem), "%s", memspan_error_last()->message);
    }
}

static void load_host(void)
{
    msp_stack_run(load_host_now, NULL);
}

const struct msp_device *msp_device_of_host(void)
{
    pthread_once(&host_once, load_host);
    if (MSP_UNLIKELY(!host_ready)) {
        memspan_error(MEMSPAN_ERR_OFF, "%s", host_problem);
        return NULL;
    }
    return &host;
}

static void describe_host_now(void *unused)
{
    (void)unused;
    if (describe(&host) != MEMSPAN_OK) {
        msp_log(MEMSPAN_LOG_WARN, host.table->name, "%s", memspan_error_text());
    }
}

static void describe_host(void)
{
    msp_stack_run(describe_host_now, NULL);
}

/* The host with its description, which costs a read of several small files. */
static const struct msp_device *find_host(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (msp_device_of_host() == NULL) {
        return NULL;
    }
    pthread_once(&once, describe_host);
    return &host;
}

static const struct msp_device *find_listed(const memspan_backend_t *table, int ordinal)
{
    int i;

    for (i = 0; i < device_count; i++) {
        if ((devices[i].table == table) && (devices[i].ordinal == ordinal)) {
            return &devices[i];
        }
    }
    return NULL;
}

/* The device of another backend that is the same hardware. One backend lists nothing twice: its
 * devices of one PCI address are parts of a card. */
static const struct msp_device *find_twin(const struct msp_device *device)
{
    const char *pci = device->info.pci_address;
    int i;

    for (i = 0; (pci[0] != '\0') && (i < device_count); i++) {
        if ((devices[i].table != device->table) &&
            (strcmp(devices[i].info.pci_address, pci) == 0)) {
            return &devices[i];
        }
    }
    return NULL;
}

/* @p once: not hardware that is listed already. */
static void add(const struct msp_backend_slot *slot, int ordinal, bool once)
{
    int number = device_count + (((host_number >= 0) && (device_count >= host_number)) ? 1 : 0);
    struct msp_device *device = &devices[device_count];
    const struct msp_device *twin;
    char label[48];

    if (device_count == DEVICES_MAX) {
        msp_log(MEMSPAN_LOG_WARN, "core", "%s:%d is left out: more than %d devices", slot->name,
                ordinal, DEVICES_MAX);
        return;
    }
    *device = (struct msp_device){
        .table = slot->table, .state = slot->state, .number = number, .ordinal = ordinal};
    if (describe(device) != MEMSPAN_OK) {
        msp_log(MEMSPAN_LOG_WARN, slot->name, "device %d is left out: %s", ordinal,
                memspan_error_text());
        return;
    }
    twin = once ? find_twin(device) : NULL;
    if (twin != NULL) {
        msp_log(MEMSPAN_LOG_INFO, slot->name,
                "%s:%d is left out: it is %s; MEMSPAN_DEVICES can number it", slot->name, ordinal,
                msp_device_label(twin, label, sizeof(label)));
        return;
    }
    device_count++;
    msp_topology_note_device(device->info.pci_address, device->info.numa_node);
}

static void add_all(const struct msp_backend_slot *slot)
{
    int ordinal;

    for (ordinal = 0; ordinal < slot->device_count; ordinal++) {
        add(slot, ordinal, true);
    }
}

/* ---- devices of the OpenMP runtime ---- */

static bool find_owner(const void *pointer, struct msp_device *owner)
{
    int i;

    for (i = 0; i < msp_backend_slots(); i++) {
        const struct msp_backend_slot *slot =
            ((msp_backend_slot_flags(i) & MEMSPAN_BACKEND_KNOWS_MEMORY) != 0) ? msp_backend_slot(i)
                                                                              : NULL;
        memspan_pointer_facts_t facts;

        if ((slot != NULL) && slot->on &&
            (slot->table->pointer_describe(slot->state, pointer, &facts) == MEMSPAN_OK) &&
            (facts.kind == MEMSPAN_KIND_DEVICE) && (facts.ordinal >= 0)) {
            owner->table   = slot->table;
            owner->state   = slot->state;
            owner->ordinal = facts.ordinal;
            return describe(owner) == MEMSPAN_OK;
        }
    }
    return false;
}

/* The backend whose driver knows the memory that the runtime allocates serves the device: what it
 * allocates, target regions reach. */
static void adopt(struct msp_device *device)
{
    const memspan_request_t request = {.struct_size = sizeof(request),
                                       .kind        = MEMSPAN_KIND_DEVICE,
                                       .size_bytes  = msp_page_size(),
                                       .align_bytes = msp_page_size()};
    const struct msp_device theirs  = *device;
    struct msp_device owner         = {.number = device->number};
    memspan_block_t block           = {0};
    char label[48];

    if (theirs.table->alloc(theirs.state, theirs.ordinal, &request, &block) != MEMSPAN_OK) {
        msp_log(MEMSPAN_LOG_INFO, theirs.table->name, "device %d: whose it is was not found: %s",
                theirs.number, memspan_error_text());
        return;
    }
    if (find_owner(block.address, &owner)) {
        *device = owner;
        msp_topology_note_device(owner.info.pci_address, owner.info.numa_node);
        msp_log(MEMSPAN_LOG_INFO, theirs.table->name, "device %d is %s", theirs.number,
                msp_device_label(device, label, sizeof(label)));
    }
    (void)theirs.table->free(theirs.state, theirs.ordinal, &block);
}

/* Devices that are the host's own processors have no other driver. */
static void adopt_all(void)
{
    int i;

    for (i = 0; i < device_count; i++) {
        if ((devices[i].info.capabilities & MEMSPAN_CAN_UNIFIED_PHYSICAL) == 0) {
            adopt(&devices[i]);
        }
    }
}

/* Devices that stand in for the runtime's take their numbers, where these are the host's own
 * processors: target regions then run in this process, on the memory that is watched. */
static void replace_all(const struct msp_backend_slot *slot)
{
    int ordinal;

    for (ordinal = 0; ordinal < slot->device_count; ordinal++) {
        struct msp_device device = {
            .table = slot->table, .state = slot->state, .number = ordinal, .ordinal = ordinal};

        if (ordinal >= host_number) {
            add(slot, ordinal, false);
        } else if ((devices[ordinal].info.capabilities & MEMSPAN_CAN_UNIFIED_PHYSICAL) == 0) {
            msp_log(MEMSPAN_LOG_WARN, slot->name,
                    "%s%d does not stand in for device %d, whose memory is apart", slot->name,
                    ordinal, ordinal);
        } else if (describe(&device) == MEMSPAN_OK) {
            devices[ordinal] = device;
        }
    }
}

static bool stands_in(const struct msp_backend_slot *slot)
{
    const struct msp_region_watcher *watcher = msp_region_watched();

    return (host_number > 0) && (watcher != NULL) &&
           msp_driver_has_state(slot->state, watcher->state);
}

static const char *slot_name(size_t i)
{
    return memspan_backend_name((int)i);
}

static memspan_status_t refuse_word(const char *format, const char *word, const char *detail)
{
    return msp_option_refuse(MSP_OPTION_DEVICES, format, word, detail);
}

/* One word of MEMSPAN_DEVICES: "opencl:0"; for a backend that is opened only on request the number
 * is how many ("emu:2"). */
static memspan_status_t add_word(const char *word)
{
    const struct msp_backend_slot *slot = NULL;
    const struct msp_device *listed;
    const char *colon = strchr(word, ':');
    char name[32];
    int number;
    int i;

    if ((colon == NULL) || !msp_text_to_int(colon + 1, strlen(colon + 1), &number) ||
        (number < 0)) {
        return refuse_word("\"%s\" is not BACKEND:NUMBER%s", word, "");
    }
    snprintf(name, sizeof(name), "%.*s", (int)(colon - word), word);
    for (i = 0; (slot == NULL) && (i < msp_backend_slots()); i++) {
        slot = (strcmp(memspan_backend_name(i), name) == 0) ? msp_backend_slot(i) : NULL;
    }
    if (slot == NULL) {
        const char *nearest = msp_text_nearest(name, slot_name);
        return refuse_word("there is no backend \"%s\"; perhaps \"%s\"?", name,
                           (nearest == NULL) ? "host" : nearest);
    }
    if ((slot->table != NULL) && ((slot->table->flags & MEMSPAN_BACKEND_IS_HOST) != 0)) {
        return refuse_word("\"%s\": the host needs no number, it is always there%s", word, "");
    }
    if (!slot->on) {
        return refuse_word("%s is not available: %s", word, slot->reason);
    }
    if ((slot->table->flags & MEMSPAN_BACKEND_OPT_IN) != 0) {
        stands_in(slot) ? replace_all(slot) : add_all(slot);
        return MEMSPAN_OK;
    }
    if (number >= slot->device_count) {
        return refuse_word("there is no %s: the backend has %s", word, slot->reason);
    }
    if ((slot->table->flags & MEMSPAN_BACKEND_NUMBERS_DEVICES) != 0) {
        return MEMSPAN_OK; /* it is there, under this or its driver's name */
    }
    listed = find_listed(slot->table, number);
    if (listed != NULL) {
        return (listed->number < host_number) ? MEMSPAN_OK
                                              : refuse_word("%s is there twice%s", word, "");
    }
    add(slot, number, false);
    return MEMSPAN_OK;
}

static memspan_status_t add_listed(const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        char word[64];
        memspan_status_t status;

        snprintf(word, sizeof(word), "%.*s", (int)length, text);
        status = add_word(word);
        if (status != MEMSPAN_OK) {
            return status;
        }
        text += length + ((text[length] == ',') ? 1 : 0);
    }
    return MEMSPAN_OK;
}

/* All devices of the backends that have one of @p with and none of @p without. Opens no others. */
static void add_backends(unsigned with, unsigned without)
{
    int i;

    for (i = 0; i < msp_backend_slots(); i++) {
        unsigned flags = msp_backend_slot_flags(i);

        if (((with == 0) || ((flags & with) != 0)) && ((flags & without) == 0) &&
            msp_backend_slot(i)->on) {
            add_all(msp_backend_slot(i));
        }
    }
}

static memspan_status_t load_devices(void)
{
    const char *listed = msp_option_text(MSP_OPTION_DEVICES);
    memspan_status_t status;

    host_number = -1;
    status      = msp_backend_list_status();
    if (status != MEMSPAN_OK) {
        return status;
    }
    add_backends(MEMSPAN_BACKEND_NUMBERS_DEVICES, 0);
    adopt_all();
    if (device_count > 0) {
        host_number = device_count;
    }
    if (listed[0] != '\0') {
        return add_listed(listed);
    }
    if (host_number < 0) {
        add_backends(0, MEMSPAN_BACKEND_IS_HOST | MEMSPAN_BACKEND_NUMBERS_DEVICES |
                            MEMSPAN_BACKEND_OPT_IN);
    }
    return MEMSPAN_OK;
}

static void load_table_now(void *unused)
{
    (void)unused;
    loading      = true;
    table_status = load_devices();
    loading      = false;
    if (table_status != MEMSPAN_OK) {
        snprintf(table_problem, sizeof(table_problem), "%s", memspan_error_last()->message);
    }
    if (host_number < 0) {
        host_number = device_count;
    }
}

static void load_table(void)
{
    msp_stack_run(load_table_now, NULL);
}

static memspan_status_t ensure_table(void)
{
    if (loading || msp_opening_is_here()) {
        return MEMSPAN_OK;
    }
    pthread_once(&table_once, load_table);
    return (table_status == MEMSPAN_OK) ? MEMSPAN_OK
                                        : memspan_error(table_status, "%s", table_problem);
}

const struct msp_device *msp_device_find(int number)
{
    int i;

    if (number == MEMSPAN_HOST) {
        return find_host();
    }
    if (ensure_table() != MEMSPAN_OK) {
        return NULL;
    }
    if (number == host_number) {
        return find_host();
    }
    for (i = 0; i < device_count; i++) {
        if (devices[i].number == number) {
            return &devices[i];
        }
    }
    memspan_error(MEMSPAN_ERR_NOT_FOUND, "there is no device %d", number);
    if (device_count == 0) {
        msp_error_hint("no device was found; memquery says why each backend is off");
    } else {
        msp_error_hint("devices are 0 to %d; the host is -1", devices[device_count - 1].number);
    }
    return NULL;
}

const struct msp_device *msp_device_of_ordinal(const memspan_backend_t *table, int ordinal)
{
    return (ordinal == MEMSPAN_HOST) ? msp_device_of_host() : find_listed(table, ordinal);
}

static memspan_reach_t reach_between(const struct msp_device *home, memspan_kind_t kind,
                                     const struct msp_device *from)
{
    memspan_reach_t reach = {MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};
    bool host_pages       = (kind == MEMSPAN_KIND_HOST) || (kind == MEMSPAN_KIND_HOST_PINNED);
    unsigned can          = from->info.capabilities;

    if (!host_pages) {
        return reach;
    }
    if ((home->number == MEMSPAN_HOST) && ((can & MEMSPAN_CAN_ACCESS_PAGEABLE) != 0)) {
        reach.access    = MEMSPAN_ACCESS_REMOTE;
        reach.coherence = ((can & MEMSPAN_CAN_HOST_ATOMICS) != 0) ? MEMSPAN_COHERENCE_ATOMIC
                                                                  : MEMSPAN_COHERENCE_CONCURRENT;
    } else if ((can & MEMSPAN_CAN_IMPORT) != 0) {
        reach.access = MEMSPAN_ACCESS_REGISTER;
    }
    return reach;
}

memspan_reach_t msp_device_reach_of(const struct msp_device *home, memspan_kind_t kind,
                                    const struct msp_device *from)
{
    if (home->table == from->table) {
        return home->table->reach(home->state, home->ordinal, kind, from->ordinal);
    }
    if (from->number == MEMSPAN_HOST) {
        return home->table->reach(home->state, home->ordinal, kind, MEMSPAN_HOST);
    }
    return reach_between(home, kind, from);
}

/* The source of msp_device_reach_of()'s result. */
static void source_between(const struct msp_device *home, memspan_kind_t kind,
                           const struct msp_device *from, char *text, size_t size)
{
    const memspan_backend_t *t = home->table;
    bool host_pages            = (kind == MEMSPAN_KIND_HOST) || (kind == MEMSPAN_KIND_HOST_PINNED);

    text[0] = '\0';
    if ((t == from->table) || (from->number == MEMSPAN_HOST)) {
        if (t->reach_source != NULL) {
            int ordinal = (t == from->table) ? from->ordinal : MEMSPAN_HOST;
            t->reach_source(home->state, home->ordinal, kind, ordinal, text, size);
        }
        if (text[0] == '\0') {
            snprintf(text, size, "%s", (home == from) ? "its own" : "the backend's word");
        }
    } else if (host_pages) {
        bool pageable = (home->number == MEMSPAN_HOST) &&
                        ((from->info.capabilities & MEMSPAN_CAN_ACCESS_PAGEABLE) != 0);
        unsigned bit = pageable ? MEMSPAN_CAN_ACCESS_PAGEABLE : MEMSPAN_CAN_IMPORT;
        snprintf(text, size, "%s", from->info.capability_note[__builtin_ctz(bit)]);
    } else {
        snprintf(text, size,
                 "two backends know nothing of each other: copies go through host memory");
    }
}

const char *msp_device_label(const struct msp_device *device, char *buffer, size_t size)
{
    if (device->number == MEMSPAN_HOST) {
        snprintf(buffer, size, "host");
    } else {
        snprintf(buffer, size, "%s%d", device->table->name, device->ordinal);
    }
    return buffer;
}

/* ---- public ---- */

int memspan_device_count(void)
{
    ensure_table();
    return device_count;
}

memspan_status_t memspan_device_at(int index, int *device_p)
{
    memspan_status_t status = ensure_table();

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (device_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "device_p is NULL");
    }
    if ((index < 0) || (index >= device_count)) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "index %d: there are %d devices", index,
                             device_count);
    }
    *device_p = devices[index].number;
    return MEMSPAN_OK;
}

int memspan_host_device(void)
{
    ensure_table();
    return host_number;
}

memspan_status_t memspan_device_describe(int number, memspan_device_info_t *info_p)
{
    const struct msp_device *device;
    struct msp_device fresh;

    if (info_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "device %d: info_p is NULL", number);
    }
    device = msp_device_find(number);
    if (device == NULL) {
        return memspan_error_last()->status;
    }
    fresh = *device;
    if (describe(&fresh) != MEMSPAN_OK) {
        return memspan_error_last()->status;
    }
    return msp_struct_write(info_p, &fresh.info, sizeof(fresh.info));
}

static memspan_status_t find_pair(int home_number, memspan_kind_t kind, int number,
                                  const struct msp_device **home_p,
                                  const struct msp_device **from_p)
{
    if ((kind <= MEMSPAN_KIND_NONE) || (kind >= MEMSPAN_KIND_COUNT)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%d is no kind of memory", (int)kind);
    }
    *home_p = msp_device_find(home_number);
    *from_p = (*home_p == NULL) ? NULL : msp_device_find(number);
    return (*from_p == NULL) ? memspan_error_last()->status : MEMSPAN_OK;
}

memspan_status_t memspan_device_reach(int home_number, memspan_kind_t kind, int number,
                                      memspan_reach_t *reach_p)
{
    const struct msp_device *home = NULL;
    const struct msp_device *from = NULL;
    memspan_status_t status;

    if (reach_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "reach_p is NULL");
    }
    status = find_pair(home_number, kind, number, &home, &from);
    if (status == MEMSPAN_OK) {
        *reach_p = msp_device_reach_of(home, kind, from);
    }
    return status;
}

memspan_status_t memspan_device_reach_source(int home_number, memspan_kind_t kind, int number,
                                             char *text, size_t size_bytes)
{
    const struct msp_device *home;
    const struct msp_device *from;
    memspan_status_t status;

    if ((text == NULL) || (size_bytes == 0)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "text is NULL, or has no room");
    }
    status = find_pair(home_number, kind, number, &home, &from);
    if (status == MEMSPAN_OK) {
        source_between(home, kind, from, text, size_bytes);
    }
    return status;
}

memspan_status_t memspan_device_synchronize(int number)
{
    const struct msp_device *device = msp_device_find(number);

    if (device == NULL) {
        return memspan_error_last()->status;
    }
    if (device->table->synchronize == NULL) {
        return MEMSPAN_OK;
    }
    return device->table->synchronize(device->state, device->ordinal, NULL);
}
