/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c: streams, copies, fills, modules and launches. Nothing is done before it must be: when
 * a caller waits, when memory is given back, or when a copy ends in pageable memory. Pageable
 * memory that is copied from is read at once. A kernel that touches what it may not leaves the
 * context unusable. */

#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- streams ---- */

static void drop_command(struct fake_command *c)
{
    free(c->snapshot);
    free(c->function);
    free(c);
}

bool fake_busy(void)
{
    const struct CUstream_st *s;

    for (s = fake.streams; s != NULL; s = s->next) {
        if (s->first != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- the program's synchronous copies ----
 *
 * They are done as late as the driver may do them: other streams do not wait for them. */

void fake_late_finish(void)
{
    if (fake.late.size > 0) {
        memcpy(fake_any(fake.late.to, fake.late.size), fake_any(fake.late.from, fake.late.size),
               fake.late.size);
    }
    fake.late.size = 0;
}

cuda_result_t cuMemcpyDtoD_v2(cuda_address_t to, cuda_address_t from, size_t size)
{
    const struct fake_memory *target = fake_find((uintptr_t)to);
    const struct fake_memory *source = fake_find((uintptr_t)from);
    struct CUctx_st *context;
    cuda_result_t code = fake_current(&context);

    if ((code != CUDA_SUCCESS) || (target == NULL) || (source == NULL)) {
        return (code != CUDA_SUCCESS) ? code : CUDA_ERROR_INVALID_VALUE;
    }
    fake_late_finish();
    fake.late.context = context;
    fake.late.to      = (uintptr_t)to;
    fake.late.from    = (uintptr_t)from;
    fake.late.size    = size;
    if (target->synced || source->synced || ((context->flags & CUDA_CTX_SYNC_MEMOPS) != 0)) {
        fake_late_finish();
    }
    return CUDA_SUCCESS;
}

static bool is_late(uintptr_t address)
{
    const struct fake_memory *m = fake_find(address);

    return (m != NULL) && ((m == fake_find(fake.late.to)) || (m == fake_find(fake.late.from)));
}

static void judge(const struct fake_command *c)
{
    size_t i;

    for (i = 0; (i < sizeof(c->arguments) / sizeof(c->arguments[0])) && (fake.late.size > 0); i++) {
        if (is_late(c->to) || is_late(c->from) || is_late((uintptr_t)c->arguments[i])) {
            fake_broken("a stream uses memory that the program's copy has not left");
        }
    }
}

cuda_result_t fake_run(struct CUstream_st *stream)
{
    while (stream->first != NULL) {
        struct fake_command *c = stream->first;
        judge(c);
        stream->first = c->next;
        if (stream->context->sticky == CUDA_SUCCESS) {
            stream->context->sticky = c->run(stream->context, c);
        }
        drop_command(c);
    }
    if (fake.managed_closed && !fake_busy()) {
        fake_managed_open(true);
    }
    return stream->context->sticky;
}

static void unlink_stream(struct CUstream_st *stream);

cuda_result_t fake_run_all(const struct CUctx_st *context)
{
    cuda_result_t first = CUDA_SUCCESS;
    struct CUstream_st *s;
    struct CUstream_st *next;

    for (s = fake.streams; s != NULL; s = next) {
        cuda_result_t code = ((context == NULL) || (s->context == context)) ? fake_run(s) : 0;
        next               = s->next;
        first              = (first == CUDA_SUCCESS) ? code : first;
        if (s->destroyed && (s->first == NULL)) {
            unlink_stream(s);
        }
    }
    return first;
}

static bool is_stream(const struct CUstream_st *stream)
{
    const struct CUstream_st *s;

    for (s = fake.streams; (s != NULL) && (s != stream); s = s->next) {
    }
    return (s != NULL) && (stream != NULL) && !s->destroyed;
}

/* Streams are their context's: with another current they are refused. */
static cuda_result_t check_stream(struct CUstream_st *stream)
{
    struct CUctx_st *context;
    cuda_result_t code = fake_current(&context);

    if (code != CUDA_SUCCESS) {
        return code;
    }
    return (is_stream(stream) && (stream->context == context)) ? CUDA_SUCCESS
                                                               : CUDA_ERROR_INVALID_HANDLE;
}

cuda_result_t cuStreamCreate(cuda_stream_t *stream_p, unsigned flags)
{
    struct CUctx_st *context;
    struct CUstream_st *stream;
    cuda_result_t code;

    BEGIN("cuStreamCreate");
    code = fake_current(&context);
    if ((code != CUDA_SUCCESS) || (flags != CUDA_STREAM_NON_BLOCKING)) {
        return fake_leave((code != CUDA_SUCCESS) ? code : CUDA_ERROR_INVALID_VALUE);
    }
    stream          = calloc(1, sizeof(*stream));
    stream->context = context;
    stream->next    = fake.streams;
    fake.streams    = stream;
    *stream_p       = stream;
    return fake_leave(CUDA_SUCCESS);
}

static void unlink_stream(struct CUstream_st *stream)
{
    struct CUstream_st **link = &fake.streams;

    while (*link != stream) {
        link = &(*link)->next;
    }
    *link = stream->next;
    free(stream);
}

/* Returns at once: what is pending is done later, and how that ends is the answer of the next call.
 */
cuda_result_t cuStreamDestroy_v2(cuda_stream_t stream)
{
    cuda_result_t code;

    BEGIN_RELEASE("cuStreamDestroy");
    if (!is_stream(stream)) {
        fake_broken("cuStreamDestroy of no stream");
        return fake_leave(CUDA_ERROR_INVALID_HANDLE);
    }
    code = stream->context->sticky;
    if ((stream->first != NULL) && (code == CUDA_SUCCESS) && (fake.failed[0] == '\0')) {
        fake_broken("a stream is destroyed that has work");
    }
    stream->destroyed = true;
    if (stream->first == NULL) {
        unlink_stream(stream);
    }
    return fake_leave(code);
}

void fake_streams_drop(int device)
{
    struct CUstream_st *s = fake.streams;

    while (s != NULL) {
        struct CUstream_st *next = s->next;
        if ((device < 0) || (s->context->device == device)) {
            while (s->first != NULL) {
                struct fake_command *c = s->first;
                s->first               = c->next;
                drop_command(c);
            }
            unlink_stream(s);
        }
        s = next;
    }
}

cuda_result_t cuStreamSynchronize(cuda_stream_t stream)
{
    cuda_result_t code;

    BEGIN("cuStreamSynchronize");
    code = check_stream(stream);
    return fake_leave((code == CUDA_SUCCESS) ? fake_run(stream) : code);
}

cuda_result_t cuStreamBeginCapture_v2(cuda_stream_t stream, int mode)
{
    cuda_result_t code = check_stream(stream);

    if ((code == CUDA_SUCCESS) && (mode == 0)) {
        (void)fake_cuda_capture(true);
    }
    return (mode == 0) ? code : CUDA_ERROR_NOT_SUPPORTED;
}

cuda_result_t cuStreamEndCapture(cuda_stream_t stream, void **graph)
{
    static char made;
    cuda_result_t code = check_stream(stream);

    if (code == CUDA_SUCCESS) {
        code = fake_cuda_capture(false) ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    *graph = (code == CUDA_SUCCESS) ? &made : NULL;
    return code;
}

cuda_result_t cuGraphDestroy(void *graph)
{
    return (graph != NULL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static struct fake_command *add(struct CUstream_st *stream,
                                cuda_result_t (*run)(struct CUctx_st *, struct fake_command *))
{
    struct fake_command *c     = calloc(1, sizeof(*c));
    struct fake_command **link = &stream->first;

    while (*link != NULL) {
        link = &(*link)->next;
    }
    c->run = run;
    *link  = c;
    return c;
}

/* ---- copies and fills ---- */

static cuda_result_t run_copy(struct CUctx_st *context, struct fake_command *c)
{
    void *to         = fake_any(c->to, c->size);
    const void *from = (c->snapshot != NULL) ? c->snapshot : fake_any(c->from, c->size);

    (void)context;
    if ((to == NULL) || (from == NULL)) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    memcpy(to, from, c->size);
    return CUDA_SUCCESS;
}

static cuda_result_t add_copy(uintptr_t to, uintptr_t from, size_t size, cuda_stream_t stream)
{
    struct fake_command *c;
    cuda_result_t code = check_stream(stream);

    if (code != CUDA_SUCCESS) {
        return code;
    }
    if ((fake_any(to, size) == NULL) || (fake_any(from, size) == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    c       = add(stream, run_copy);
    c->to   = to;
    c->from = from;
    c->size = size;
    if (fake_find(from) == NULL) {
        c->snapshot = malloc(size);
        memcpy(c->snapshot, (const void *)from, size);
    }
    return (fake_find(to) == NULL) ? fake_run(stream) : CUDA_SUCCESS;
}

cuda_result_t cuMemcpyAsync(cuda_address_t to, cuda_address_t from, size_t size,
                            cuda_stream_t stream)
{
    BEGIN("cuMemcpyAsync");
    return fake_leave(add_copy((uintptr_t)to, (uintptr_t)from, size, stream));
}

cuda_result_t cuMemcpy2DAsync_v2(const cuda_rectangle_t *r, cuda_stream_t stream)
{
    cuda_result_t code = CUDA_SUCCESS;
    size_t i;

    BEGIN("cuMemcpy2DAsync");
    if ((r->to.type != CUDA_MEMORYTYPE_UNIFIED) || (r->from.type != CUDA_MEMORYTYPE_UNIFIED) ||
        ((r->height > 1) &&
         ((r->to.pitch_bytes < r->width_bytes) || (r->from.pitch_bytes < r->width_bytes)))) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    for (i = 0; (code == CUDA_SUCCESS) && (i < r->height); i++) {
        code =
            add_copy((uintptr_t)r->to.address + i * r->to.pitch_bytes,
                     (uintptr_t)r->from.address + i * r->from.pitch_bytes, r->width_bytes, stream);
    }
    return fake_leave(code);
}

static cuda_result_t run_fill(struct CUctx_st *context, struct fake_command *c)
{
    char *to = fake_any(c->to, c->size * c->width);
    size_t i;

    (void)context;
    if (to == NULL) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    for (i = 0; i < c->size; i++) {
        memcpy(to + i * c->width, &c->value, c->width);
    }
    return CUDA_SUCCESS;
}

static cuda_result_t fill(cuda_address_t to, unsigned value, unsigned width, size_t count,
                          cuda_stream_t stream)
{
    struct fake_command *c;
    cuda_result_t code = check_stream(stream);

    if (code != CUDA_SUCCESS) {
        return code;
    }
    if ((fake_find((uintptr_t)to) == NULL) || (to % width != 0) ||
        (fake_any((uintptr_t)to, count * width) == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    c        = add(stream, run_fill);
    c->to    = (uintptr_t)to;
    c->size  = count;
    c->value = value;
    c->width = width;
    return CUDA_SUCCESS;
}

cuda_result_t cuMemsetD8Async(cuda_address_t to, unsigned char byte, size_t count,
                              cuda_stream_t stream)
{
    BEGIN("cuMemsetD8Async");
    return fake_leave(fill(to, byte, 1, count, stream));
}

cuda_result_t cuMemsetD32Async(cuda_address_t to, unsigned word, size_t count, cuda_stream_t stream)
{
    BEGIN("cuMemsetD32Async");
    return fake_leave(fill(to, word, 4, count, stream));
}

/* ---- modules and launches ---- */

/* The compiler: a version, a target, and one entry whose name is known. */
static const char *compile(const char *text, char *name, size_t size)
{
    const char *entry = strstr(text, ".entry ");
    size_t length;

    if ((strncmp(text, ".version ", 9) != 0) || (strstr(text, ".target sm_") == NULL)) {
        return "no version or target";
    }
    if (entry == NULL) {
        return "no entry";
    }
    entry += strlen(".entry ");
    length = strcspn(entry, "(");
    snprintf(name, size, "%.*s", (int)length, entry);
    return fake_knows_kernel(name) ? NULL : "unknown entry";
}

cuda_result_t cuModuleLoadDataEx(cuda_module_t *module_p, const void *image, unsigned count,
                                 cuda_jit_option_t *options, void **values)
{
    struct CUctx_st *context;
    struct CUmod_st *module;
    const char *problem = NULL;
    char name[48];
    cuda_result_t code = fake_enter("cuModuleLoadDataEx", false);

    if ((code == CUDA_ERROR_INVALID_PTX) && (count == 2) &&
        (options[0] == CUDA_JIT_ERROR_LOG_BUFFER)) {
        snprintf(values[0], (size_t)(uintptr_t)values[1], "ptxas: pretended words\nmore");
    }
    if (code != CUDA_SUCCESS) {
        return code;
    }
    code = fake_current(&context);
    if (code != CUDA_SUCCESS) {
        return fake_leave(code);
    }
    problem = compile(image, name, sizeof(name));
    if (problem != NULL) {
        fake_broken("PTX: %s", problem);
        return fake_leave(CUDA_ERROR_INVALID_PTX);
    }
    module = calloc(1, sizeof(*module));
    snprintf(module->function.name, sizeof(module->function.name), "%s", name);
    module->function.context = context;
    module->next             = fake.modules;
    fake.modules             = module;
    *module_p                = module;
    return fake_leave(CUDA_SUCCESS);
}

void fake_modules_drop(int device)
{
    struct CUmod_st **link = &fake.modules;

    while (*link != NULL) {
        struct CUmod_st *module = *link;
        if ((device < 0) || (module->function.context->device == device)) {
            *link = module->next;
            free(module);
        } else {
            link = &module->next;
        }
    }
}

cuda_result_t cuModuleUnload(cuda_module_t module)
{
    struct CUmod_st **link = &fake.modules;

    BEGIN_RELEASE("cuModuleUnload");
    while ((*link != NULL) && (*link != module)) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        fake_broken("cuModuleUnload of no module");
        return fake_leave(CUDA_ERROR_INVALID_HANDLE);
    }
    *link = module->next;
    free(module);
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuModuleGetFunction(cuda_function_t *function, cuda_module_t module, const char *name)
{
    BEGIN("cuModuleGetFunction");
    if (strcmp(module->function.name, name) != 0) {
        return fake_leave(CUDA_ERROR_NOT_FOUND);
    }
    *function = &module->function;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuLaunchKernel(cuda_function_t function, unsigned grid_x, unsigned grid_y,
                             unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_bytes, cuda_stream_t stream, void **arguments,
                             void **extra)
{
    struct fake_command *c;
    cuda_result_t code;
    int i;

    BEGIN("cuLaunchKernel");
    code = check_stream(stream);
    if (code != CUDA_SUCCESS) {
        return fake_leave(code);
    }
    if (function->context != stream->context) {
        return fake_leave(CUDA_ERROR_INVALID_HANDLE);
    }
    if ((grid_x == 0) || (grid_y != 1) || (grid_z != 1) || (block_x == 0) || (block_x > 1024) ||
        (block_y != 1) || (block_z != 1) || (shared_bytes != 0) || (extra != NULL)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    c            = add(stream, fake_kernel);
    c->function  = malloc(sizeof(*c->function));
    *c->function = *function;
    c->blocks    = grid_x;
    c->threads   = block_x;
    for (i = 0; i < 5; i++) {
        memcpy(&c->arguments[i], arguments[i], sizeof(uint64_t));
    }
    if (fake.attributes[CUDA_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS] == 0) {
        fake_managed_open(false);
    }
    return fake_leave(CUDA_SUCCESS);
}
