/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c: streams, copies, fills, modules and launches. Nothing is done before it must be: when
 * a caller waits, when memory is given back, or when a copy ends in pageable memory. Pageable
 * memory that is copied from is read at once. A kernel that touches what it may not leaves its
 * device unusable. */

#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void drop_command(struct fake_command *c)
{
    free(c->snapshot);
    free(c);
}

hip_result_t fake_run(struct ihipStream_t *stream)
{
    hip_result_t *sticky = &fake.sticky[stream->device];

    while (stream->first != NULL) {
        struct fake_command *c = stream->first;
        stream->first          = c->next;
        if (*sticky == HIP_SUCCESS) {
            *sticky = c->run(stream->device, c);
        }
        drop_command(c);
    }
    return *sticky;
}

static void unlink_stream(struct ihipStream_t *stream);

hip_result_t fake_run_all(int device)
{
    hip_result_t first = HIP_SUCCESS;
    struct ihipStream_t *s;
    struct ihipStream_t *next;

    for (s = fake.streams; s != NULL; s = next) {
        hip_result_t code = ((device < 0) || (s->device == device)) ? fake_run(s) : HIP_SUCCESS;
        next              = s->next;
        first             = (first == HIP_SUCCESS) ? code : first;
        if (s->destroyed && (s->first == NULL)) {
            unlink_stream(s);
        }
    }
    return first;
}

static hip_result_t check_stream(const struct ihipStream_t *stream)
{
    const struct ihipStream_t *s;

    for (s = fake.streams; (s != NULL) && (s != stream); s = s->next) {
    }
    if ((s == NULL) || (stream == NULL) || s->destroyed) {
        fake_broken("the default stream, or none at all");
        return HIP_ERROR_INVALID_HANDLE;
    }
    return fake.sticky[s->device];
}

hip_result_t hipStreamCreateWithFlags(hip_stream_t *stream_p, unsigned flags)
{
    struct ihipStream_t *stream;

    BEGIN("hipStreamCreateWithFlags");
    if ((fake_usable() != HIP_SUCCESS) || (flags != HIP_STREAM_NON_BLOCKING)) {
        return fake_leave((fake_usable() != HIP_SUCCESS) ? fake_usable() : HIP_ERROR_INVALID_VALUE);
    }
    stream         = calloc(1, sizeof(*stream));
    stream->device = fake_current;
    stream->next   = fake.streams;
    fake.streams   = stream;
    *stream_p      = stream;
    return fake_leave(HIP_SUCCESS);
}

static void unlink_stream(struct ihipStream_t *stream)
{
    struct ihipStream_t **link = &fake.streams;

    while (*link != stream) {
        link = &(*link)->next;
    }
    *link = stream->next;
    free(stream);
}

/* Returns at once: what is pending is done later, and how that ends is the answer of the next call.
 */
hip_result_t hipStreamDestroy(hip_stream_t stream)
{
    struct ihipStream_t *s;
    hip_result_t code;

    BEGIN_RELEASE("hipStreamDestroy");
    for (s = fake.streams; (s != NULL) && (s != stream); s = s->next) {
    }
    if ((s == NULL) || s->destroyed) {
        fake_broken("hipStreamDestroy of no stream");
        return fake_leave(HIP_ERROR_INVALID_HANDLE);
    }
    code = fake.sticky[s->device];
    if ((s->first != NULL) && (code == HIP_SUCCESS) && (fake.failed[0] == '\0')) {
        fake_broken("a stream is destroyed that has work");
    }
    s->destroyed = true;
    if (s->first == NULL) {
        unlink_stream(s);
    }
    return fake_leave(code);
}

hip_result_t hipStreamSynchronize(hip_stream_t stream)
{
    hip_result_t code;

    BEGIN("hipStreamSynchronize");
    code = check_stream(stream);
    return fake_leave((code == HIP_SUCCESS) ? fake_run(stream) : code);
}

static struct fake_command *add(struct ihipStream_t *stream,
                                hip_result_t (*run)(int, struct fake_command *))
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

static hip_result_t run_copy(int device, struct fake_command *c)
{
    void *to         = fake_any(c->to, c->size);
    const void *from = (c->snapshot != NULL) ? c->snapshot : fake_any(c->from, c->size);

    (void)device;
    if ((to == NULL) || (from == NULL)) {
        return HIP_ERROR_ILLEGAL_ADDRESS;
    }
    memmove(to, from, c->size);
    return HIP_SUCCESS;
}

static hip_result_t add_copy(uintptr_t to, uintptr_t from, size_t size, int kind,
                             hip_stream_t stream)
{
    struct fake_command *c;
    hip_result_t code = check_stream(stream);

    if (code != HIP_SUCCESS) {
        return code;
    }
    if ((kind != HIP_MEMCPY_DEFAULT) || (fake_any(to, size) == NULL) ||
        (fake_any(from, size) == NULL)) {
        return HIP_ERROR_INVALID_VALUE;
    }
    c       = add(stream, run_copy);
    c->to   = to;
    c->from = from;
    c->size = size;
    if (fake_find(from) == NULL) {
        c->snapshot = malloc(size);
        memcpy(c->snapshot, (const void *)from, size);
    }
    return (fake_find(to) == NULL) ? fake_run(stream) : HIP_SUCCESS;
}

hip_result_t hipMemcpyAsync(void *to, const void *from, size_t size, int kind, hip_stream_t stream)
{
    BEGIN("hipMemcpyAsync");
    return fake_leave(add_copy((uintptr_t)to, (uintptr_t)from, size, kind, stream));
}

hip_result_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, int kind, hip_stream_t stream)
{
    hip_result_t code = HIP_SUCCESS;
    size_t i;

    BEGIN("hipMemcpy2DAsync");
    if ((height > 1) && ((to_pitch < width) || (from_pitch < width))) {
        return fake_leave(HIP_ERROR_INVALID_VALUE);
    }
    for (i = 0; (code == HIP_SUCCESS) && (i < height); i++) {
        code = add_copy((uintptr_t)to + i * to_pitch, (uintptr_t)from + i * from_pitch, width, kind,
                        stream);
    }
    return fake_leave(code);
}

static hip_result_t run_fill(int device, struct fake_command *c)
{
    void *to = fake_any(c->to, c->size);

    (void)device;
    if (to == NULL) {
        return HIP_ERROR_ILLEGAL_ADDRESS;
    }
    memset(to, c->value, c->size);
    return HIP_SUCCESS;
}

hip_result_t hipMemsetAsync(void *to, int value, size_t size, hip_stream_t stream)
{
    struct fake_command *c;
    hip_result_t code;

    BEGIN("hipMemsetAsync");
    code = check_stream(stream);
    if (code != HIP_SUCCESS) {
        return fake_leave(code);
    }
    if ((fake_find((uintptr_t)to) == NULL) || (fake_any((uintptr_t)to, size) == NULL)) {
        return fake_leave(HIP_ERROR_INVALID_VALUE);
    }
    c        = add(stream, run_fill);
    c->to    = (uintptr_t)to;
    c->size  = size;
    c->value = value;
    return fake_leave(HIP_SUCCESS);
}

/* ---- modules and launches ---- */

hip_result_t hipModuleLoadData(hip_module_t *module_p, const void *bytes)
{
    const struct fake_code *code = bytes;
    struct ihipModule_t *module;

    BEGIN("hipModuleLoadData");
    if (fake_usable() != HIP_SUCCESS) {
        return fake_leave(fake_usable());
    }
    if (memcmp(code->magic, FAKE_CODE_MAGIC, sizeof(code->magic)) != 0) {
        return fake_leave(HIP_ERROR_NO_BINARY_FOR_GPU);
    }
    module            = calloc(1, sizeof(*module));
    module->device    = fake_current;
    module->combining = (code->combining != 0);
    fake.modules++;
    *module_p = module;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipModuleUnload(hip_module_t module)
{
    hip_result_t code;

    BEGIN_RELEASE("hipModuleUnload");
    code = fake_run_all(module->device);
    while (module->functions != NULL) {
        struct ihipModuleSymbol_t *next = module->functions->next;
        free(module->functions);
        module->functions = next;
    }
    free(module);
    fake.modules--;
    return fake_leave(code);
}

hip_result_t hipModuleGetFunction(hip_function_t *function_p, hip_module_t module, const char *name)
{
    struct ihipModuleSymbol_t *function;

    BEGIN("hipModuleGetFunction");
    if (!fake_knows_kernel(name, module->combining)) {
        return fake_leave(HIP_ERROR_NOT_FOUND);
    }
    for (function = module->functions; function != NULL; function = function->next) {
        if (strcmp(function->name, name) == 0) {
            *function_p = function;
            return fake_leave(HIP_SUCCESS);
        }
    }
    function         = calloc(1, sizeof(*function));
    function->device = module->device;
    function->next   = module->functions;
    snprintf(function->name, sizeof(function->name), "%s", name);
    module->functions = function;
    *function_p       = function;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipModuleLaunchKernel(hip_function_t function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, hip_stream_t stream,
                                   void **arguments, void **extra)
{
    struct fake_command *c;
    hip_result_t code;
    int i;

    BEGIN("hipModuleLaunchKernel");
    code = check_stream(stream);
    if (code != HIP_SUCCESS) {
        return fake_leave(code);
    }
    if (stream->device != function->device) {
        fake_broken("a kernel of device %d on a stream of device %d", function->device,
                    stream->device);
        return fake_leave(HIP_ERROR_INVALID_HANDLE);
    }
    if ((grid_x == 0) || (grid_y != 1) || (grid_z != 1) || (block_x == 0) || (block_x > 256) ||
        (block_y != 1) || (block_z != 1) || (shared_bytes != 0) || (extra != NULL)) {
        return fake_leave(HIP_ERROR_INVALID_VALUE);
    }
    c         = add(stream, fake_kernel);
    c->blocks = grid_x;
    memcpy(c->kernel, function->name, sizeof(c->kernel));
    for (i = 0; i < 5; i++) {
        memcpy(&c->arguments[i], arguments[i], sizeof(uint64_t));
    }
    return fake_leave(HIP_SUCCESS);
}
