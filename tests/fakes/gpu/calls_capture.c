/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_capture.c: captures of streams into graphs, and the calls that a capture forbids.
 *
 * A capture begins on one stream, with a mode. Another stream joins it when it waits for an event
 * that was recorded in it, and must be joined back before it ends. Work on such a stream is noted
 * in the graph, which is never launched here. */

#include "tests/fakes/gpu/calls.h"

enum { GLOBAL, THREAD_LOCAL, RELAXED };

static _Thread_local int thread_mode = GLOBAL;

int fake_exchange_capture_mode(int *mode)
{
    int before = thread_mode;

    thread_mode = *mode;
    *mode       = before;
    return 0;
}

static int spoil(struct fake_stream *stream, int code)
{
    struct fake_stream *s;

    for (s = gpu.streams; s != NULL; s = s->next) {
        s->spoilt = s->spoilt || (s->capture == stream->capture);
    }
    return code;
}

/* Whether this capture forbids the thread an unsafe call. */
static bool forbids(const struct fake_stream *s)
{
    bool mine = pthread_equal(s->capturer, pthread_self()) != 0;

    return (s->capture != 0) && (s->capture_mode != RELAXED) && (thread_mode != RELAXED) &&
           (mine || ((s->capture_mode == GLOBAL) && (thread_mode == GLOBAL)));
}

int fake_refuse_in_capture(bool unsafe, bool waits)
{
    struct fake_stream *s;
    int code = 0;

    for (s = gpu.streams; s != NULL; s = s->next) {
        if ((unsafe && forbids(s)) || (waits && (s->capture != 0))) {
            code = spoil(s, FAKE_CAPTURE_UNSUPPORTED);
        }
    }
    if (gpu.capturing && (waits || (unsafe && (thread_mode != RELAXED)))) {
        gpu.capture_spoilt = true;
        code               = FAKE_CAPTURE_UNSUPPORTED;
    }
    return code;
}

/* The default stream waits for blocking streams, which are in a graph. */
static struct fake_stream *find_implied(const struct fake_stream *stream)
{
    struct fake_stream *s = gpu.streams;

    while ((s != NULL) &&
           ((stream->type != FAKE_STREAM_LEGACY) || !s->blocking || (s->capture == 0) ||
            (s->context != stream->context) || (s->device != stream->device))) {
        s = s->next;
    }
    return s;
}

int fake_check_implicit(const struct fake_stream *stream)
{
    struct fake_stream *implied = find_implied(stream);

    return (implied == NULL) ? 0 : spoil(implied, FAKE_CAPTURE_IMPLICIT);
}

int fake_stream_is_captured(const struct fake_stream *stream, bool *captured_p)
{
    *captured_p = gpu.capturing || (stream->capture != 0);
    return (find_implied(stream) == NULL) ? 0 : FAKE_CAPTURE_IMPLICIT;
}

int fake_refuse_captured(struct fake_stream *stream)
{
    return (stream->capture == 0) ? 0 : spoil(stream, FAKE_CAPTURE_UNSUPPORTED);
}

int fake_capture_begin(struct fake_stream *stream, int mode)
{
    static unsigned serial;
    int code = fake_check_stream(stream);

    if ((code != 0) || (mode < GLOBAL) || (mode > RELAXED)) {
        return (code != 0) ? code : FAKE_INVALID_VALUE;
    }
    if (stream->type == FAKE_STREAM_LEGACY) {
        return FAKE_CAPTURE_UNSUPPORTED;
    }
    if (stream->capture != 0) {
        return FAKE_ILLEGAL_STATE;
    }
    stream->capture      = ++serial;
    stream->capture_mode = mode;
    stream->capturer     = pthread_self();
    stream->origin       = true;
    return 0;
}

int fake_capture_end(struct fake_stream *stream)
{
    unsigned capture = stream->capture;
    struct fake_stream *s;
    int code;

    if ((capture == 0) || !stream->origin) {
        return FAKE_ILLEGAL_STATE;
    }
    if ((stream->capture_mode != RELAXED) &&
        (pthread_equal(stream->capturer, pthread_self()) == 0)) {
        return spoil(stream, FAKE_CAPTURE_WRONG_THREAD);
    }
    code = stream->spoilt ? FAKE_CAPTURE_INVALIDATED : 0;
    for (s = gpu.streams; s != NULL; s = s->next) {
        if (s->capture == capture) {
            code       = ((code == 0) && s->unjoined) ? FAKE_CAPTURE_UNJOINED : code;
            s->capture = 0;
            s->spoilt = s->origin = s->unjoined = false;
        }
    }
    return code;
}

/* @p mark: what the stream is to wait for; 0: it may. */
int fake_capture_join(struct fake_stream *stream, const struct fake_mark *mark)
{
    if (stream->capture == mark->capture) {
        if ((mark->capture != 0) && fake_is_stream(mark->stream) && (mark->stream != stream)) {
            mark->stream->unjoined = false;
        }
        return 0;
    }
    if (stream->capture != 0) { /* work outside the graph, or of another */
        return spoil(stream, FAKE_CAPTURE_ISOLATION);
    }
    if (!fake_is_stream(mark->stream) || (mark->stream->capture != mark->capture)) {
        return FAKE_CAPTURED_EVENT; /* of a capture that has ended */
    }
    if (stream->type == FAKE_STREAM_LEGACY) {
        return spoil(mark->stream, FAKE_CAPTURE_IMPLICIT);
    }
    stream->capture      = mark->capture;
    stream->capture_mode = mark->stream->capture_mode;
    stream->capturer     = mark->stream->capturer;
    stream->unjoined     = true;
    return 0;
}
