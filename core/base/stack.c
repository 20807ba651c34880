/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/error.h"
#include "core/base/process.h"
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { LEAST_BYTES = 128 << 10, STACK_BYTES = 1 << 20 };

struct work {
    msp_stack_body_t *body;
    void *argument;
    struct msp_error_saved error;
};

bool msp_stack_has_capacity(void)
{
    const char *here = __builtin_frame_address(0);
    pthread_attr_t attributes;
    void *start = NULL;
    size_t size;
    bool known;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return true;
    }
    known = (pthread_attr_getstack(&attributes, &start, &size) == 0);
    pthread_attr_destroy(&attributes);
    return !known || ((size_t)(here - (const char *)start) >= LEAST_BYTES);
}

static void *run(void *data)
{
    struct work *work = data;

    msp_error_restore(&work->error);
    work->body(work->argument);
    msp_error_save(&work->error);
    return NULL;
}

/* With the caller's signals: threads that drivers start inherit them. */
static bool start(struct work *work, pthread_t *thread_p)
{
    pthread_attr_t attributes;
    bool started;

    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    started = (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0) &&
              (pthread_create(thread_p, &attributes, run, work) == 0);
    pthread_attr_destroy(&attributes);
    return started;
}

void msp_stack_run(msp_stack_body_t *body, void *argument)
{
    struct work *work = msp_stack_has_capacity() ? NULL : malloc(sizeof(*work));
    pthread_t thread;

    if (work == NULL) {
        body(argument);
        return;
    }
    work->body     = body;
    work->argument = argument;
    msp_error_save(&work->error);
    if (start(work, &thread)) {
        pthread_join(thread, NULL);
        msp_error_restore(&work->error);
    } else {
        body(argument);
    }
    free(work);
}
