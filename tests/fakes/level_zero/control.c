/* SPDX-License-Identifier: BSD-3-Clause */
/* control.c: what is made to fail, and what is counted. */

#include "fake.h"
#include "tests/fakes/end.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 96 };

struct fake fake;
static struct {
    char name[64];
    unsigned count;
} counters[NAMES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards everything of the fake */

static long number(const char *name, long fallback)
{
    const char *text = getenv(name);

    return ((text == NULL) || (text[0] == '\0')) ? fallback : strtol(text, NULL, 0);
}

static void text(const char *name, const char *fallback, char *to, size_t size)
{
    const char *value = getenv(name);

    snprintf(to, size, "%s", (value == NULL) ? fallback : value);
}

static void place_devices(void)
{
    int d;
    int i;
    int t;

    for (d = 0; d < FAKE_DRIVERS_MAX; d++) {
        fake.drivers[d].index = d;
        for (i = 0; i < FAKE_DEVICES_MAX; i++) {
            fake.devices[d][i] = (struct _ze_device_handle_t){&fake.drivers[d], NULL, i, 0};
            for (t = 0; t < FAKE_TILES_MAX; t++) {
                fake.tiles[d][i][t] =
                    (struct _ze_device_handle_t){&fake.drivers[d], &fake.devices[d][i], t, 0};
            }
        }
    }
}

static uintptr_t high_bits(void)
{
    char addresses[8];

    text("FAKE_ZE_ADDRESSES", "low", addresses, sizeof(addresses));
    if (strcmp(addresses, "pvc") == 0) {
        return (uintptr_t)0xff << 56;
    }
    return (strcmp(addresses, "dg2") == 0) ? (uintptr_t)0x1ffff << 47 : 0;
}

static void read_environment(void)
{
    char access[64];

    fake.ready        = true;
    fake.driver_count = (int)number("FAKE_ZE_DRIVERS", 1);
    fake.device_count = (int)number("FAKE_ZE_DEVICES", 2);
    fake.tile_count   = (int)number("FAKE_ZE_TILES", 0);
    fake.capacity     = (size_t)number("FAKE_ZE_MEMORY", 256L << 20);
    fake.limit        = (size_t)number("FAKE_ZE_LIMIT", (long)fake.capacity / 2);
    fake.flags        = (uint32_t)number("FAKE_ZE_FLAGS", 0);
    fake.type         = (uint32_t)number("FAKE_ZE_TYPE", ZE_DEVICE_TYPE_GPU);
    fake.fail_at      = (int)number("FAKE_ZE_FAIL_AT", 0);
    fake.fail_code    = (uint32_t)number("FAKE_ZE_FAIL_CODE", ZE_RESULT_ERROR_UNKNOWN);
    fake.lost_at      = (int)number("FAKE_ZE_LOST_AT", 0);
    fake.hang         = number("FAKE_ZE_HANG", 0) != 0;
    text("FAKE_ZE_LACKS", "", fake.lacks, sizeof(fake.lacks));
    text("FAKE_ZE_IMPORT", "intel", fake.import, sizeof(fake.import));
    fake.high = high_bits();
    text("FAKE_ZE_IPC", "plain", fake.ipc, sizeof(fake.ipc));
    text("FAKE_ZE_LIES", "", fake.lies, sizeof(fake.lies));
    text("FAKE_ZE_FAIL_CALL", "", fake.fail_call, sizeof(fake.fail_call));
    text("FAKE_ZE_ACCESS", "f,3,3,1,0", access, sizeof(access));
    sscanf(access, "%x,%x,%x,%x,%x", &fake.access[0], &fake.access[1], &fake.access[2],
           &fake.access[3], &fake.access[4]);
    place_devices();
}

void fake_ze_reset(void)
{
    pthread_mutex_lock(&lock);
    fake.calls        = 0;
    fake.lost         = false;
    fake.initialised  = false;
    fake.failed[0]    = '\0';
    fake.violation[0] = '\0';
    memset(counters, 0, sizeof(counters));
    read_environment();
    pthread_mutex_unlock(&lock);
}

static void count(const char *name)
{
    int i;

    for (i = 0; i < NAMES; i++) {
        if (counters[i].name[0] == '\0') {
            snprintf(counters[i].name, sizeof(counters[i].name), "%s", name);
        }
        if (strcmp(counters[i].name, name) == 0) {
            counters[i].count++;
            return;
        }
    }
}

ze_result_t fake_enter(const char *name, bool releases)
{
    fake_call_begins(name);
    pthread_mutex_lock(&lock);
    if (!fake.ready) {
        read_environment();
    }
    count(name);
    fake.calls++;
    fake.forced = ZE_RESULT_SUCCESS;
    fake.lost   = fake.lost || ((fake.lost_at > 0) && (fake.calls >= fake.lost_at));
    if ((fake.calls == fake.fail_at) || (strcmp(fake.fail_call, name) == 0)) {
        snprintf(fake.failed, sizeof(fake.failed), "%s", name);
        fake.forced = (ze_result_t)fake.fail_code;
    } else if (!fake.initialised && (strcmp(name, "zeInit") != 0)) {
        fake.forced = ZE_RESULT_ERROR_UNINITIALIZED;
    } else if (fake.lost) {
        fake.forced = ZE_RESULT_ERROR_DEVICE_LOST;
    }
    if ((fake.forced != ZE_RESULT_SUCCESS) && !releases) {
        return fake_leave(ZE_RESULT_SUCCESS);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t fake_leave(ze_result_t code)
{
    code = (fake.forced != ZE_RESULT_SUCCESS) ? fake.forced : code;
    pthread_mutex_unlock(&lock);
    fake_call_ends();
    return code;
}

void fake_broken(const char *format, ...)
{
    va_list args;

    if (fake.violation[0] != '\0') {
        return;
    }
    va_start(args, format);
    vsnprintf(fake.violation, sizeof(fake.violation), format, args);
    va_end(args);
}

void fake_check_type(uint32_t found, uint32_t wanted, const char *where)
{
    if (found != wanted) {
        fake_broken("%s: structure type %#x, not %#x", where, found, wanted);
    }
}

bool fake_lies(const char *about)
{
    return strcmp(fake.lies, about) == 0;
}

bool fake_lacks(const char *what)
{
    return strstr(fake.lacks, what) != NULL;
}

const char *fake_ze_failed_call(void)
{
    return fake.failed;
}

const char *fake_ze_violation(void)
{
    return fake.violation;
}

int fake_ze_live(void)
{
    const struct fake_memory *memory;
    ze_command_list_handle_t list;
    int live = fake.objects + fake.imports;

    for (memory = fake.memory; memory != NULL; memory = memory->next) {
        live++;
    }
    for (list = fake.lists; list != NULL; list = list->next) {
        live++;
    }
    return live;
}

unsigned long long fake_ze_used(int device)
{
    return fake.devices[0][device].used;
}

unsigned fake_ze_calls(const char *name)
{
    int i;

    for (i = 0; i < NAMES; i++) {
        if (strcmp(counters[i].name, name) == 0) {
            return counters[i].count;
        }
    }
    return 0;
}
