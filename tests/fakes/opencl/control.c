/* SPDX-License-Identifier: BSD-3-Clause */
/* control.c: what is made to fail, and what is counted. */

#include "fake.h"
#include "tests/fakes/end.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 64 };

struct fake fake;
static bool ready;
static struct {
    char name[48];
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

static void read_environment(void)
{
    fake.fail_at   = (int)number("FAKE_OPENCL_FAIL_AT", 0);
    fake.svm       = (cl_ulong)number("FAKE_OPENCL_SVM", 11);
    fake.apart     = number("FAKE_OPENCL_APART", 0) != 0;
    fake.platforms = (int)number("FAKE_OPENCL_PLATFORMS", 1);
    fake.devices   = (int)number("FAKE_OPENCL_DEVICES", 1);
    fake.memory    = (size_t)number("FAKE_OPENCL_MEMORY", 64L << 20);
    fake.hang      = number("FAKE_OPENCL_HANG", 0) != 0;
    fake.crash     = number("FAKE_OPENCL_CRASH", 0) != 0;
    text("FAKE_OPENCL_VERSION", "OpenCL 3.0", fake.version, sizeof(fake.version));
    text("FAKE_OPENCL_LACKS", "", fake.lacks, sizeof(fake.lacks));
    text("FAKE_OPENCL_FAIL_CALL", "", fake.fail_call, sizeof(fake.fail_call));
}

void fake_opencl_reset(void)
{
    pthread_mutex_lock(&lock);
    ready             = true;
    fake.calls        = 0;
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

bool fake_enter(const char *name)
{
    fake_call_begins(name);
    pthread_mutex_lock(&lock);
    if (!ready) {
        ready = true;
        read_environment();
    }
    count(name);
    fake.calls++;
    if ((fake.calls == fake.fail_at) || (strcmp(fake.fail_call, name) == 0)) {
        snprintf(fake.failed, sizeof(fake.failed), "%s", name);
        return true;
    }
    return false;
}

void fake_leave(void)
{
    pthread_mutex_unlock(&lock);
    fake_call_ends();
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

const char *fake_opencl_failed_call(void)
{
    return fake.failed;
}

const char *fake_opencl_violation(void)
{
    return fake.violation;
}

int fake_opencl_live(void)
{
    return fake.live;
}

unsigned fake_opencl_calls(const char *name)
{
    int i;

    for (i = 0; i < NAMES; i++) {
        if (strcmp(counters[i].name, name) == 0) {
            return counters[i].count;
        }
    }
    return 0;
}
