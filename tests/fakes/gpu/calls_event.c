/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_event.c: events. A mark is the position in a stream at which an event was recorded. */

#include "tests/fakes/gpu/calls.h"
#include <stdlib.h>

/* So many answers "not ready" in a row: then the stream goes on by itself. */
enum { DISABLE_TIMING = 2, ANSWERS_MAX = 50 };

struct fake_event {
    struct fake_event *next;
    int device;
    void *context;
    struct fake_mark *mark; /* NULL: never recorded */
    int answers;            /* "not ready" */
};

static struct fake_event *events;

static struct fake_mark *hold(struct fake_mark *mark)
{
    mark->references++;
    return mark;
}

void fake_mark_drop(struct fake_mark *mark)
{
    mark->references--;
    if (mark->references == 0) {
        free(mark);
    }
}

static struct fake_event **link_of(const struct fake_event *event)
{
    struct fake_event **link = &events;

    while ((*link != NULL) && (*link != event)) {
        link = &(*link)->next;
    }
    return link;
}

static bool is_event(const struct fake_event *event, const char *name)
{
    bool found = *link_of(event) != NULL;

    if (!found) {
        fake_broken("%s of no event", name);
    }
    return found;
}

int fake_event_create(struct fake_event **event_p, unsigned flags)
{
    int device;
    int code = fake_usable(&device);

    if ((code != 0) || (flags != DISABLE_TIMING)) { /* with times it is slower */
        return (code != 0) ? code : FAKE_INVALID_VALUE;
    }
    *event_p            = calloc(1, sizeof(**event_p));
    (*event_p)->device  = device;
    (*event_p)->context = fake_context();
    (*event_p)->next    = events;
    events              = *event_p;
    gpu.objects++;
    return 0;
}

static void unlink_event(struct fake_event **link)
{
    struct fake_event *event = *link;

    *link = event->next;
    if (event->mark != NULL) {
        fake_mark_drop(event->mark);
    }
    free(event);
    gpu.objects--;
}

/* Also of one that is pending: streams that wait for it go on doing so. */
int fake_event_destroy(struct fake_event *event, const char *name)
{
    int code;

    if (!is_event(event, name)) {
        return FAKE_INVALID_HANDLE;
    }
    code = fake_sticky(event->device);
    unlink_event(link_of(event));
    return code;
}

void fake_events_drop(int device, const void *context)
{
    struct fake_event **link = &events;

    while (*link != NULL) {
        if (((device < 0) || ((*link)->device == device)) &&
            ((context == NULL) || ((*link)->context == context))) {
            unlink_event(link);
        } else {
            link = &(*link)->next;
        }
    }
}

static struct fake_mark *make_mark(struct fake_stream *stream)
{
    struct fake_mark *mark = hold(calloc(1, sizeof(*mark)));

    mark->stream = stream;
    mark->clock  = stream->order.clock;
    return mark;
}

/* The stream is finished with a command by dropping it. */
static int run_nothing(int device, struct fake_command *command)
{
    (void)command;
    return gpu.sticky[device];
}

int fake_event_record(struct fake_event *event, struct fake_stream *stream)
{
    struct fake_command *c;
    int code = fake_check_stream(stream);

    if ((code != 0) || !is_event(event, "a record")) {
        return (code != 0) ? code : FAKE_INVALID_HANDLE;
    }
    if ((event->device != stream->device) || (event->context != stream->context)) {
        fake_broken("an event of device %d on a stream of device %d, or of another context",
                    event->device, stream->device);
        return FAKE_INVALID_HANDLE;
    }
    if (event->mark != NULL) {
        fake_mark_drop(event->mark);
    }
    event->mark          = make_mark(stream);
    event->mark->capture = stream->capture;
    event->answers       = 0;
    c                    = fake_enqueue(stream, run_nothing);
    c->mark              = hold(event->mark);
    event->mark->clock   = stream->order.clock;
    return 0;
}

static int run_wait(int device, struct fake_command *command)
{
    fake_run_to(command->waits_for);
    return gpu.sticky[device];
}

void fake_wait_for_last(struct fake_command *command, struct fake_stream *other)
{
    struct fake_command *last = other->first;

    while (last->next != NULL) {
        last = last->next;
    }
    if (last->mark == NULL) {
        last->mark = make_mark(other);
    }
    command->run       = run_wait;
    command->waits_for = hold(last->mark);
}

int fake_event_wait(struct fake_stream *stream, const struct fake_event *event, unsigned flags)
{
    int code = fake_check_stream(stream);

    if ((code != 0) || (flags != 0)) {
        return (code != 0) ? code : FAKE_INVALID_VALUE;
    }
    if (!is_event(event, "a wait")) {
        return FAKE_INVALID_HANDLE;
    }
    code = (event->mark == NULL) ? 0 : fake_capture_join(stream, event->mark);
    if ((code == 0) && (event->mark != NULL) && (stream->capture == 0)) {
        fake_enqueue(stream, run_wait)->waits_for = hold(event->mark);
        order_join(&stream->order, &event->mark->clock);
    }
    return code;
}

int fake_event_query(struct fake_event *event)
{
    int code;

    if (!is_event(event, "a query")) {
        return FAKE_INVALID_HANDLE;
    }
    code = fake_sticky(event->device);
    if (code != 0) {
        return code;
    }
    if ((event->mark != NULL) && (event->mark->capture != 0)) {
        return FAKE_CAPTURED_EVENT;
    }
    if ((event->mark != NULL) && !event->mark->done && (++event->answers > ANSWERS_MAX)) {
        fake_go_on(event->mark);
    }
    if ((event->mark == NULL) || !event->mark->done) {
        return (event->mark == NULL) ? 0 : FAKE_NOT_READY;
    }
    order_complete(&event->mark->clock);
    return 0;
}
