/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_work.c: streams, copies, fills, modules and launches. */

#include "tests/fakes/gpu/calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fake_sticky(int device)
{
    return gpu.lost ? FAKE_LOST : gpu.sticky[device];
}

/* ---- late copies of the program's ---- */

static struct {
    uintptr_t to;
    uintptr_t from;
    size_t size; /* 0: none */
} late;

void fake_late_begin(uintptr_t to, uintptr_t from, size_t size)
{
    fake_late_finish();
    late.to   = to;
    late.from = from;
    late.size = size;
}

void fake_late_finish(void)
{
    if (late.size > 0) {
        memcpy(fake_any(late.to, late.size), fake_any(late.from, late.size), late.size);
    }
    late.size = 0;
}

static bool is_late(uintptr_t address)
{
    const struct fake_memory *m = fake_find(address);

    return (m != NULL) && ((m == fake_find(late.to)) || (m == fake_find(late.from)));
}

static bool is_of_other(uintptr_t address, const struct fake_stream *stream)
{
    const struct fake_memory *m = fake_find(address);

    return (m != NULL) && (m->attached != NULL) && (m->attached != stream);
}

static void judge(const struct fake_stream *stream, const struct fake_command *c)
{
    size_t i;

    for (i = 2; (i < sizeof(c->arguments) / sizeof(c->arguments[0])) && (gpu.failed[0] == '\0');
         i++) {
        if (is_of_other(c->to, stream) || is_of_other(c->from, stream) ||
            is_of_other((uintptr_t)c->arguments[i], stream)) {
            fake_broken("a stream uses memory that is attached to another");
        }
    }

    for (i = 0; (i < sizeof(c->arguments) / sizeof(c->arguments[0])) && (late.size > 0); i++) {
        if (is_late(c->to) || is_late(c->from) || is_late((uintptr_t)c->arguments[i])) {
            fake_broken("a stream uses memory that the program's copy has not left");
        }
    }
}

/* ---- streams ---- */

/* Commands that were captured: none is ever launched. */
static struct fake_command *graph;

static void drop_first(struct fake_stream *stream)
{
    struct fake_command *c = stream->first;

    stream->first = c->next;
    if (c->mark != NULL) {
        c->mark->done = true;
        fake_mark_drop(c->mark);
    }
    if (c->waits_for != NULL) {
        fake_mark_drop(c->waits_for);
    }
    free(c->snapshot);
    free(c);
}

bool fake_busy(void)
{
    const struct fake_stream *s = gpu.streams;

    while ((s != NULL) && (s->first == NULL)) {
        s = s->next;
    }
    return s != NULL;
}

static bool is_held(const struct fake_command *c)
{
    return (c->word != NULL) && (__atomic_load_n(c->word, __ATOMIC_ACQUIRE) < c->least);
}

static void run_first(struct fake_stream *stream)
{
    judge(stream, stream->first);
    if (fake_sticky(stream->device) == 0) {
        gpu.sticky[stream->device] = stream->first->run(stream->device, stream->first);
    }
    drop_first(stream);
}

/* Up to and with @p last; NULL: all. A word of the host's is waited for without the lock. */
static int run_until(struct fake_stream *stream, const struct fake_mark *last)
{
    stream->runners++;
    while ((stream->first != NULL) && ((last == NULL) || !last->done)) {
        if (is_held(stream->first) && (fake_sticky(stream->device) == 0)) {
            fake_pause();
        } else {
            run_first(stream);
        }
    }
    stream->runners--;
    if (gpu.managed_closed && !fake_busy()) {
        fake_managed_open(true);
    }
    return fake_sticky(stream->device);
}

static void detach_all(const struct fake_stream *stream)
{
    struct fake_memory *m;

    for (m = gpu.memory; m != NULL; m = m->next) {
        m->attached = (m->attached == stream) ? NULL : m->attached;
    }
}

static void unlink_stream(struct fake_stream *stream)
{
    struct fake_stream **link = &gpu.streams;

    while (*link != stream) {
        link = &(*link)->next;
    }
    *link = stream->next;
    detach_all(stream);
    gpu.objects -= (stream->type == FAKE_STREAM_MADE) ? 1 : 0;
    order_close(&stream->order);
    free(stream);
}

/* The last user of a destroyed stream ends it. */
static void unlink_ended(struct fake_stream *stream)
{
    if (stream->destroyed && (stream->first == NULL) && (stream->runners == 0)) {
        unlink_stream(stream);
    }
}

/* For the host. */
static int run(struct fake_stream *stream)
{
    order_complete(&stream->order.clock);
    return run_until(stream, NULL);
}

void fake_run_to(const struct fake_mark *mark)
{
    struct fake_stream *stream = mark->stream;

    if (!mark->done) {
        (void)run_until(stream, mark);
        unlink_ended(stream);
    }
}

void fake_go_on(const struct fake_mark *mark)
{
    if (!is_held(mark->stream->first)) {
        run_first(mark->stream);
    }
}

int fake_run_all(int device)
{
    struct fake_stream *next;
    struct fake_stream *s;
    int first = 0;

    for (s = gpu.streams; s != NULL; s = next) {
        int code = ((device < 0) || (s->device == device)) ? run(s) : 0;
        next     = s->next;
        first    = (first == 0) ? code : first;
        unlink_ended(s);
    }
    return first;
}

bool fake_is_stream(const struct fake_stream *stream)
{
    const struct fake_stream *s = gpu.streams;

    while ((s != NULL) && (s != stream)) {
        s = s->next;
    }
    return (s != NULL) && !s->destroyed;
}

static struct fake_stream *add_stream(int device, enum fake_stream_type type, bool blocking)
{
    struct fake_stream *stream = calloc(1, sizeof(*stream));

    stream->type     = type;
    stream->thread   = pthread_self();
    stream->blocking = blocking;
    stream->device   = device;
    stream->context  = fake_context();
    stream->next     = gpu.streams;
    gpu.streams      = stream;
    order_open(&stream->order);
    return stream;
}

/* Flag 1: it does not wait for the default stream, and is not waited for. */
int fake_stream_create(struct fake_stream **stream_p, unsigned flags)
{
    int device;
    int code = fake_usable(&device);

    if ((code != 0) || (flags > 1)) {
        return (code != 0) ? code : FAKE_INVALID_VALUE;
    }
    *stream_p = add_stream(device, FAKE_STREAM_MADE, flags == 0);
    gpu.objects++;
    return 0;
}

static struct fake_stream *find_default(int device, enum fake_stream_type type)
{
    struct fake_stream *s = gpu.streams;

    while ((s != NULL) &&
           ((s->type != type) || (s->device != device) || (s->context != fake_context()) ||
            ((type == FAKE_STREAM_THREAD) && (pthread_equal(s->thread, pthread_self()) == 0)))) {
        s = s->next;
    }
    return s;
}

struct fake_stream *fake_stream_of(struct fake_stream *handle)
{
    enum fake_stream_type type = ((uintptr_t)handle == 2) ? FAKE_STREAM_THREAD : FAKE_STREAM_LEGACY;
    struct fake_stream *stream;
    int device = -1;

    if ((uintptr_t)handle > 2) {
        return handle;
    }
    if (fake_usable(&device) != 0) {
        return NULL;
    }
    stream = find_default(device, type);
    return (stream != NULL) ? stream : add_stream(device, type, type == FAKE_STREAM_THREAD);
}

/* Returns at once: what is pending is done later, and how that ends is the answer of the next call.
 */
int fake_stream_destroy(struct fake_stream *stream, const char *name)
{
    int code;

    if (!fake_is_stream(stream) || (stream->type != FAKE_STREAM_MADE)) {
        fake_broken("%s of no stream", name);
        return FAKE_INVALID_HANDLE;
    }
    code = fake_sticky(stream->device);
    if ((stream->first != NULL) && (code == 0) && (gpu.failed[0] == '\0')) {
        fake_broken("a stream is destroyed that has work");
    }
    stream->destroyed = true;
    unlink_ended(stream);
    return code;
}

int fake_stream_wait(struct fake_stream *stream)
{
    int code = fake_check_stream(stream);

    code = (code == 0) ? fake_refuse_captured(stream) : code;
    if (code == 0) {
        code = run(stream);
        unlink_ended(stream);
    }
    return code;
}

bool fake_is_used_elsewhere(const struct fake_memory *m, const struct fake_stream *stream)
{
    const struct fake_stream *s;
    const struct fake_command *c;

    for (s = gpu.streams; s != NULL; s = s->next) {
        for (c = s->first; (s != stream) && (c != NULL); c = c->next) {
            if ((c->to - m->base < m->size) || (c->from - m->base < m->size)) {
                return true;
            }
        }
    }
    return false;
}

void fake_streams_drop(int device, const void *context)
{
    struct fake_stream *s = gpu.streams;

    while (s != NULL) {
        struct fake_stream *next = s->next;
        if (((device < 0) || (s->device == device)) &&
            ((context == NULL) || (s->context == context))) {
            while (s->first != NULL) {
                drop_first(s);
            }
            unlink_stream(s);
        }
        s = next;
    }
}

static struct fake_command *append(struct fake_stream *stream,
                                   int (*run_it)(int device, struct fake_command *command))
{
    struct fake_command *c     = calloc(1, sizeof(*c));
    struct fake_command **link = (stream->capture == 0) ? &stream->first : &graph;

    while (*link != NULL) {
        link = &(*link)->next;
    }
    c->run = run_it;
    *link  = c;
    return c;
}

/* The legacy default stream and a blocking one of its context: each waits for the earlier work of
 * the other. */
static bool waits_for(const struct fake_stream *stream, const struct fake_stream *other)
{
    return (other->first != NULL) && (other->device == stream->device) &&
           (other->context == stream->context) &&
           (((stream->type == FAKE_STREAM_LEGACY) && other->blocking) ||
            ((other->type == FAKE_STREAM_LEGACY) && stream->blocking));
}

struct fake_command *fake_enqueue(struct fake_stream *stream,
                                  int (*run_it)(int device, struct fake_command *command))
{
    struct fake_stream *s;

    for (s = gpu.streams; (stream->capture == 0) && (s != NULL); s = s->next) {
        if (waits_for(stream, s)) {
            fake_wait_for_last(append(stream, NULL), s);
            order_join(&stream->order, &s->order.clock);
        }
    }
    if (stream->capture == 0) {
        order_add(&stream->order);
    }
    return append(stream, run_it);
}

static int run_nothing(int device, struct fake_command *command)
{
    (void)command;
    return gpu.sticky[device];
}

int fake_wait_word(struct fake_stream *stream, uintptr_t word, uint64_t least, bool allowed)
{
    const struct fake_memory *m = fake_find(word);
    struct fake_command *c;
    int code = fake_check_stream(stream);

    if ((code != 0) || !allowed || (m == NULL) || (m->kind != FAKE_HOST) || (word % 8 != 0)) {
        return (code != 0) ? code : FAKE_INVALID_VALUE;
    }
    c        = fake_enqueue(stream, run_nothing);
    c->word  = fake_at(m, word, sizeof(*c->word));
    c->least = least;
    return 0;
}

/* ---- copies and fills ---- */

/* By the command that was just enqueued. Memory of the program's own is left out, and so is what
 * comes after a failure, except of the one call that FAIL_NTH chooses. */
static void use(const struct fake_stream *stream, uintptr_t address, size_t size, bool writes)
{
    bool judged = gpu.judges_order && (stream->capture == 0) && (fake_find(address) != NULL) &&
                  (fake_sticky(stream->device) == 0) &&
                  ((gpu.failed[0] == '\0') || (gpu.fail_nth != 0));

    if (judged && !order_use(&stream->order, address, size, writes)) {
        fake_broken("nothing orders two streams that use the %zu bytes at %#lx", size,
                    (unsigned long)address);
    }
}

static int run_copy(int device, struct fake_command *c)
{
    void *to         = fake_any(c->to, c->size);
    const void *from = (c->snapshot != NULL) ? c->snapshot : fake_any(c->from, c->size);

    if ((to == NULL) || (from == NULL)) {
        return FAKE_ILLEGAL_ADDRESS;
    }
    memcpy(to, from, c->size);
    return 0;
}

int fake_copy(uintptr_t to, uintptr_t from, size_t size, struct fake_stream *stream)
{
    struct fake_command *c;
    int code = fake_check_stream(stream);

    if (code != 0) {
        return code;
    }
    if ((fake_any(to, size) == NULL) || (fake_any(from, size) == NULL)) {
        return FAKE_INVALID_VALUE;
    }
    c       = fake_enqueue(stream, run_copy);
    c->to   = to;
    c->from = from;
    c->size = size;
    use(stream, from, size, false);
    use(stream, to, size, true);
    if (fake_find(from) == NULL) {
        c->snapshot = malloc(size);
        memcpy(c->snapshot, (const void *)from, size);
    }
    return (fake_find(to) == NULL) ? run(stream) : 0;
}

int fake_copy_rows(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch, size_t width,
                   size_t height, struct fake_stream *stream)
{
    int code = 0;
    size_t i;

    if ((height > 1) && ((to_pitch < width) || (from_pitch < width))) {
        return FAKE_INVALID_VALUE;
    }
    for (i = 0; (code == 0) && (i < height); i++) {
        code = fake_copy(to + i * to_pitch, from + i * from_pitch, width, stream);
    }
    return code;
}

static int run_fill(int device, struct fake_command *c)
{
    char *to = fake_any(c->to, c->size * c->width);
    size_t i;

    if (to == NULL) {
        return FAKE_ILLEGAL_ADDRESS;
    }
    for (i = 0; i < c->size; i++) {
        memcpy(to + i * c->width, &c->value, c->width);
    }
    return 0;
}

int fake_fill(uintptr_t to, unsigned value, unsigned width, size_t count,
              struct fake_stream *stream)
{
    struct fake_command *c;
    int code = fake_check_stream(stream);

    if (code != 0) {
        return code;
    }
    if ((fake_find(to) == NULL) || (to % width != 0) || (fake_any(to, count * width) == NULL)) {
        return FAKE_INVALID_VALUE;
    }
    c        = fake_enqueue(stream, run_fill);
    c->to    = to;
    c->size  = count;
    c->value = value;
    c->width = width;
    use(stream, to, count * width, true);
    return 0;
}

/* ---- modules and launches ---- */

struct fake_module *fake_module_add(int device)
{
    struct fake_module *module = calloc(1, sizeof(*module));

    module->device  = device;
    module->context = fake_context();
    module->next    = gpu.modules;
    gpu.modules     = module;
    gpu.objects++;
    return module;
}

int fake_module_function(struct fake_module *module, const char *name,
                         struct fake_function **function_p)
{
    struct fake_function *f = module->functions;

    while ((f != NULL) && (strcmp(f->name, name) != 0)) {
        f = f->next;
    }
    if (f == NULL) {
        f          = calloc(1, sizeof(*f));
        f->device  = module->device;
        f->context = module->context;
        f->next    = module->functions;
        snprintf(f->name, sizeof(f->name), "%s", name);
        module->functions = f;
    }
    *function_p = f;
    return 0;
}

static void unlink_module(struct fake_module **link)
{
    struct fake_module *module = *link;

    *link = module->next;
    while (module->functions != NULL) {
        struct fake_function *next = module->functions->next;
        free(module->functions);
        module->functions = next;
    }
    free(module);
    gpu.objects--;
}

int fake_module_unload(struct fake_module *module, const char *name)
{
    struct fake_module **link = &gpu.modules;

    while ((*link != NULL) && (*link != module)) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        fake_broken("%s of no module", name);
        return FAKE_INVALID_HANDLE;
    }
    unlink_module(link);
    return 0;
}

void fake_modules_drop(int device, const void *context)
{
    struct fake_module **link = &gpu.modules;

    while (*link != NULL) {
        if (((device < 0) || ((*link)->device == device)) &&
            ((context == NULL) || ((*link)->context == context))) {
            unlink_module(link);
        } else {
            link = &(*link)->next;
        }
    }
}

int fake_launch(const struct fake_function *function, const unsigned grid[3],
                const unsigned block[3], unsigned shared_bytes, struct fake_stream *stream,
                void **arguments, void **extra)
{
    struct fake_command *c;
    int i;

    if ((grid[0] == 0) || (grid[1] != 1) || (grid[2] != 1) || (block[0] == 0) ||
        (block[0] > fake_rules.threads_max) || (block[1] != 1) || (block[2] != 1) ||
        (shared_bytes != 0) || (extra != NULL)) {
        return FAKE_INVALID_VALUE;
    }
    c          = fake_enqueue(stream, fake_kernel);
    c->blocks  = grid[0];
    c->threads = block[0];
    memcpy(c->kernel, function->name, sizeof(c->kernel));
    for (i = 0; i < 5; i++) {
        memcpy(&c->arguments[i], arguments[i], sizeof(uint64_t));
    }
    return 0;
}
