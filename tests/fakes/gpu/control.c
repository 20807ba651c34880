/* SPDX-License-Identifier: BSD-3-Clause */
/* control.c: the environment, what is made to fail, and what is counted. */

#include "tests/fakes/end.h"
#include "tests/fakes/gpu/gpu.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAMES = 96 };

struct fake_gpu gpu;
static _Thread_local int refused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards everything of the fake */

/* A child of fork() calls the driver when it ends, where a runtime does: a thread that it does not
 * have may be in a call. */
static void forget_threads(void)
{
    pthread_mutex_init(&lock, NULL);
}

static __attribute__((constructor)) void watch_fork(void)
{
    pthread_atfork(NULL, NULL, forget_threads);
}

/* How often each call was made. */
static struct {
    char name[64];
    unsigned count;
} counters[NAMES];

static unsigned *counter(const char *name)
{
    static unsigned none;
    int i;

    for (i = 0; i < NAMES; i++) {
        if (counters[i].name[0] == '\0') {
            snprintf(counters[i].name, sizeof(counters[i].name), "%s", name);
        }
        if (strcmp(counters[i].name, name) == 0) {
            return &counters[i].count;
        }
    }
    none = 0;
    return &none;
}

/* ---- the environment ---- */

static const char *value_of(const char *name)
{
    char whole[64];

    snprintf(whole, sizeof(whole), "%s%s", fake_front.prefix, name);
    return getenv(whole);
}

long fake_number(const char *name, long fallback)
{
    const char *text = value_of(name);

    return ((text == NULL) || (text[0] == '\0')) ? fallback : strtol(text, NULL, 0);
}

void fake_text(const char *name, const char *fallback, char *to, size_t size)
{
    const char *value = value_of(name);

    snprintf(to, size, "%s", (value == NULL) ? fallback : value);
}

static void set_attribute(int which, int value)
{
    int i = 0;

    while ((i < FAKE_ATTRIBUTES - 1) && (gpu.attributes[i][0] != which) &&
           (gpu.attributes[i][0] != 0)) {
        i++;
    }
    gpu.attributes[i][0] = which;
    gpu.attributes[i][1] = value;
}

static void read_attributes(void)
{
    const char *at = value_of("ATTRIBUTES");
    int i;

    memset(gpu.attributes, 0, sizeof(gpu.attributes));
    for (i = 0; (fake_front.attributes != NULL) && (fake_front.attributes[i][0] != 0); i++) {
        set_attribute(fake_front.attributes[i][0], fake_front.attributes[i][1]);
    }
    while ((at != NULL) && (at[0] != '\0')) {
        int which = 0;
        int value = 0;
        if (sscanf(at, "%d=%d", &which, &value) == 2) {
            set_attribute(which, value);
        }
        at = strchr(at, ',');
        at = (at == NULL) ? NULL : at + 1;
    }
}

int fake_attribute(int which)
{
    int i;

    for (i = 0; i < FAKE_ATTRIBUTES; i++) {
        if (gpu.attributes[i][0] == which) {
            return gpu.attributes[i][1];
        }
    }
    return -1;
}

static void read_environment(void)
{
    gpu.ready        = true;
    gpu.device_count = (int)fake_number("DEVICES", 2);
    gpu.first        = (int)fake_number("FIRST", 0);
    gpu.capacity     = (size_t)fake_number("MEMORY", 256L << 20);
    gpu.fail_at      = (int)fake_number("FAIL_AT", 0);
    gpu.judges_order = fake_number("ORDER", 0) != 0;
    gpu.fail_nth     = (int)fake_number("FAIL_NTH", 0);
    gpu.fail_code    = (int)fake_number("FAIL_CODE", fake_front.fail_code);
    gpu.lost_at      = (int)fake_number("LOST_AT", 0);
    gpu.hang         = fake_number("HANG", 0) != 0;
    fake_text("LIES", "", gpu.lies, sizeof(gpu.lies));
    fake_text("LACKS", "", gpu.lacks, sizeof(gpu.lacks));
    fake_text("FAIL_CALL", "", gpu.fail_call, sizeof(gpu.fail_call));
    read_attributes();
    if (fake_front.read != NULL) {
        fake_front.read();
    }
}

void fake_gpu_reset(void)
{
    pthread_mutex_lock(&lock);
    gpu.initialised    = false;
    gpu.lost           = false;
    gpu.ended          = false;
    gpu.capturing      = false;
    gpu.capture_spoilt = false;
    gpu.calls          = 0;
    gpu.failed[0]      = '\0';
    gpu.violation[0]   = '\0';
    memset(gpu.sticky, 0, sizeof(gpu.sticky));
    memset(gpu.peers, 0, sizeof(gpu.peers));
    memset(counters, 0, sizeof(counters));
    read_environment();
    pthread_mutex_unlock(&lock);
}

/* ---- calls ---- */

/* The name of FAIL_CALL may have a version that the call's own words leave out. */
static bool is_to_fail(const char *name)
{
    size_t length = strlen(name);

    return (gpu.calls == gpu.fail_at) ||
           (((gpu.fail_nth == 0) || ((unsigned)gpu.fail_nth == *counter(name))) &&
            (strncmp(gpu.fail_call, name, length) == 0) &&
            ((gpu.fail_call[length] == '\0') || (strcmp(gpu.fail_call + length, "_v2") == 0)));
}

int fake_enter(const char *name, bool releases)
{
    fake_call_begins(name);
    pthread_mutex_lock(&lock);
    if (!gpu.ready) {
        read_environment();
    }
    (*counter(name))++;
    gpu.call = name;
    refused  = (fake_front.refuse != NULL) ? fake_front.refuse() : 0;
    if (refused != 0) {
        gpu.forced = refused;
        return fake_leave(0);
    }
    gpu.calls++;
    gpu.lost = gpu.lost || ((gpu.lost_at > 0) && (gpu.calls >= gpu.lost_at));
    if (is_to_fail(name)) {
        snprintf(gpu.failed, sizeof(gpu.failed), "%s", name);
        gpu.forced = gpu.fail_code;
    } else {
        gpu.forced = (fake_front.force != NULL) ? fake_front.force() : 0;
    }
    return ((gpu.forced != 0) && !releases) ? fake_leave(0) : 0;
}

int fake_leave(int code)
{
    code = (gpu.forced != 0) ? gpu.forced : code;
    if (fake_front.answered != NULL) {
        fake_front.answered(code);
    }
    pthread_mutex_unlock(&lock);
    fake_call_ends();
    return code;
}

void fake_pause(void)
{
    const struct timespec pause = {0, 50000};
    const char *call            = gpu.call;
    int forced                  = gpu.forced;

    pthread_mutex_unlock(&lock);
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&lock);
    gpu.call   = call;
    gpu.forced = forced;
}

int fake_refused(void)
{
    return refused;
}

void fake_hang(void)
{
    while (gpu.hang) {
        pause();
    }
}

void fake_broken(const char *format, ...)
{
    va_list args;

    if (gpu.violation[0] != '\0') {
        return;
    }
    va_start(args, format);
    vsnprintf(gpu.violation, sizeof(gpu.violation), format, args);
    va_end(args);
}

bool fake_lies(const char *about)
{
    return strcmp(gpu.lies, about) == 0;
}

bool fake_lacks(const char *what)
{
    return strstr(gpu.lacks, what) != NULL;
}

/* ---- for the tests ---- */

const char *fake_gpu_failed_call(void)
{
    return gpu.failed;
}

const char *fake_gpu_violation(void)
{
    return gpu.violation;
}

unsigned fake_gpu_calls(const char *name)
{
    return (name == NULL) ? (unsigned)gpu.calls : *counter(name);
}

unsigned long long fake_gpu_used(int device)
{
    return gpu.used[device];
}

bool fake_gpu_capture(bool begin)
{
    bool whole = !gpu.capture_spoilt;

    gpu.capturing      = begin;
    gpu.capture_spoilt = false;
    return whole;
}
