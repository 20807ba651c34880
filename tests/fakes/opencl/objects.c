/* SPDX-License-Identifier: BSD-3-Clause */
/* objects.c: platforms, devices, contexts, buffers, programs and kernels. */

#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake fake;
static struct _cl_platform_id platforms[FAKE_PLATFORMS];
static struct _cl_device_id devices[FAKE_PLATFORMS][FAKE_DEVICES];

static void read_more(void)
{
    gpu.device_count = (int)fake_number("DEVICES", 1);
    gpu.capacity     = (size_t)fake_number("MEMORY", 64L << 20);
    fake.svm         = (cl_ulong)fake_number("SVM", 11);
    fake.apart       = fake_number("APART", 0) != 0;
    fake.crash       = fake_number("CRASH", 0) != 0;
    fake.platforms   = (int)fake_number("PLATFORMS", 1);
    fake_text("VERSION", "OpenCL 3.0", fake.version, sizeof(fake.version));
}

const struct fake_front fake_front = {
    .prefix = "FAKE_OPENCL_", .fail_code = OPENCL_OUT_OF_RESOURCES, .read = read_more};

static void *fresh(size_t size)
{
    void *object = calloc(1, size);

    if (object == NULL) {
        abort();
    }
    gpu.objects++;
    return object;
}

static void released(void *object)
{
    gpu.objects--;
    free(object);
}

/* End of an entry that makes an object. */
static void *made(void *object, cl_int code, cl_int *code_p)
{
    if (code_p != NULL) {
        *code_p = code;
    }
    (void)fake_answer(0);
    return object;
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *list, cl_uint *count)
{
    bool fails = fake_fails(__func__);
    int i;

    if (fake.crash) {
        abort();
    }
    fake_hang();
    if (fails) {
        return fake_answer(OPENCL_OUT_OF_HOST_MEMORY);
    }
    if (fake.platforms == 0) {
        return fake_answer(OPENCL_PLATFORM_NOT_FOUND_KHR);
    }
    for (i = 0; (i < fake.platforms) && (list != NULL) && (i < (int)room); i++) {
        platforms[i].index = i;
        list[i]            = &platforms[i];
    }
    if (count != NULL) {
        *count = (cl_uint)fake.platforms;
    }
    return fake_answer(OPENCL_SUCCESS);
}

cl_int fake_give(const void *value, size_t size, size_t room, void *to, size_t *size_p)
{
    if ((to != NULL) && (room < size)) {
        return fake_answer(OPENCL_INVALID_VALUE);
    }
    if (to != NULL) {
        memcpy(to, value, size);
    }
    if (size_p != NULL) {
        *size_p = size;
    }
    return fake_answer(OPENCL_SUCCESS);
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_uint what, size_t room, void *to,
                         size_t *size_p)
{
    char name[32];

    BEGIN_OR_FAIL(OPENCL_OUT_OF_HOST_MEMORY);
    fake_text("NAME", "Pretended", name, sizeof(name) - 4);
    snprintf(name + strlen(name), 4, " %d", platform->index % 10);
    if (what == OPENCL_PLATFORM_NAME) {
        return fake_give(name, strlen(name) + 1, room, to, size_p);
    }
    return fake_give(fake.version, strlen(fake.version) + 1, room, to, size_p);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_bitfield type, cl_uint room, cl_device_id *list,
                      cl_uint *count)
{
    int i;

    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    /* The last platform of several has no device. */
    if ((gpu.device_count == 0) ||
        ((platform->index == fake.platforms - 1) && (fake.platforms > 2))) {
        return fake_answer(OPENCL_DEVICE_NOT_FOUND);
    }
    for (i = 0; (i < gpu.device_count) && (i < (int)room); i++) {
        devices[platform->index][i] = (struct _cl_device_id){platform, i};
        list[i]                     = &devices[platform->index][i];
    }
    *count = (cl_uint)gpu.device_count;
    return fake_answer(OPENCL_SUCCESS);
}

static const char *info_text(cl_uint what)
{
    switch (what) {
    case OPENCL_DEVICE_NAME:
        return "Pretended Device";
    case OPENCL_DEVICE_VENDOR:
        return "Fake";
    case OPENCL_DRIVER_VERSION:
        return "0.1";
    case OPENCL_DEVICE_VERSION:
        return fake.version;
    default:
        return NULL;
    }
}

cl_int clGetDeviceInfo(cl_device_id device, cl_uint what, size_t room, void *to, size_t *size_p)
{
    static const cl_uint one       = 1;
    const char *words              = info_text(what);
    struct opencl_pci_bus_info bus = {0, 0x41, (cl_uint)device->index, 0};
    cl_uint bits                   = 64;
    cl_uint unified                = !fake.apart;
    cl_ulong number                = 0;
    size_t group                   = 256;
    static const char zeros[OPENCL_UUID_SIZE_KHR];
    bool no_identity = fake_lacks("identity");

    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    if (words != NULL) {
        return fake_give(words, strlen(words) + 1, room, to, size_p);
    }
    switch (what) {
    case OPENCL_DEVICE_AVAILABLE:
    case OPENCL_DEVICE_COMPILER_AVAILABLE:
        return fake_give(&one, sizeof(one), room, to, size_p);
    case OPENCL_DEVICE_HOST_UNIFIED_MEMORY:
        return fake_give(&unified, sizeof(unified), room, to, size_p);
    case OPENCL_DEVICE_ADDRESS_BITS:
        return fake_give(&bits, sizeof(bits), room, to, size_p);
    case OPENCL_DEVICE_MAX_WORK_GROUP_SIZE:
        return fake_give(&group, sizeof(group), room, to, size_p);
    case OPENCL_DEVICE_PCI_BUS_INFO_KHR:
        return fake_give(no_identity ? (const void *)zeros : &bus, sizeof(bus), room, to, size_p);
    case OPENCL_DEVICE_UUID_KHR:
        return no_identity ? fake_give(zeros, sizeof(zeros), room, to, size_p)
                           : fake_answer(OPENCL_INVALID_VALUE);
    case OPENCL_DEVICE_TYPE:
        number = fake.apart ? 4 : OPENCL_DEVICE_TYPE_CPU;
        break;
    case OPENCL_DEVICE_DOUBLE_FP_CONFIG:
        number = fake_lacks("doubles") ? 0 : 63;
        break;
    case OPENCL_DEVICE_GLOBAL_MEM_SIZE:
        number = gpu.capacity;
        break;
    case OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE:
        number = gpu.capacity / 2;
        break;
    case OPENCL_DEVICE_SVM_CAPABILITIES:
        number = fake.svm;
        break;
    default:
        return fake_answer(OPENCL_INVALID_VALUE);
    }
    return fake_give(&number, sizeof(number), room, to, size_p);
}

cl_context clCreateContext(const intptr_t *properties, cl_uint count, const cl_device_id *list,
                           void (*notify)(const char *, const void *, size_t, void *), void *data,
                           cl_int *code_p)
{
    cl_context context;

    if (fake_fails(__func__) || (count == 0)) {
        return made(NULL, OPENCL_DEVICE_NOT_AVAILABLE, code_p);
    }
    context               = fresh(sizeof(*context));
    context->platform     = list[0]->platform;
    context->references   = 1;
    context->device_count = count;
    memcpy(context->devices, list, count * sizeof(list[0]));
    return made(context, OPENCL_SUCCESS, code_p);
}

cl_int clRetainContext(cl_context context)
{
    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    context->references++;
    return fake_answer(OPENCL_SUCCESS);
}

static void unref(cl_context context)
{
    context->references--;
    if (context->references == 0) {
        released(context);
    }
}

cl_int clReleaseContext(cl_context context)
{
    DO_ANYWAY(unref(context));
}

cl_int clGetContextInfo(cl_context context, cl_uint what, size_t room, void *to, size_t *size_p)
{
    BEGIN_OR_FAIL(OPENCL_OUT_OF_RESOURCES);
    if (what != OPENCL_CONTEXT_DEVICES) {
        return fake_answer(OPENCL_INVALID_VALUE);
    }
    return fake_give(context->devices, context->device_count * sizeof(context->devices[0]), room,
                     to, size_p);
}

cl_mem clCreateBuffer(cl_context context, cl_bitfield flags, size_t size, void *pages,
                      cl_int *code_p)
{
    cl_mem buffer;

    if (fake_fails(__func__)) {
        return made(NULL, OPENCL_MEM_OBJECT_ALLOCATION_FAILURE, code_p);
    }
    buffer           = fresh(sizeof(*buffer));
    buffer->context  = context;
    buffer->size     = size;
    buffer->own_data = fake.apart || ((flags & OPENCL_MEM_USE_HOST_PTR) == 0);
    buffer->data     = buffer->own_data ? calloc(1, size) : pages;
    if (buffer->own_data && (pages != NULL)) {
        memcpy(buffer->data, pages, size);
    }
    return made(buffer, OPENCL_SUCCESS, code_p);
}

/* The driver may keep a buffer for the commands that use it, but not pages of another owner. */
static void check_unused(cl_mem buffer)
{
    const struct _cl_command_queue *queue;
    const struct fake_command *command;
    int i;

    for (queue = fake.queues; queue != NULL; queue = queue->next) {
        for (command = queue->commands; command != NULL; command = command->next) {
            for (i = 0; (command->type == FAKE_RUN) && (i < FAKE_ARGS); i++) {
                if (memcmp(command->kernel.args[i].bytes, &buffer, sizeof(buffer)) == 0) {
                    fake_broken("host pages are released while a kernel waits that uses them");
                }
            }
        }
    }
}

cl_int clReleaseMemObject(cl_mem buffer)
{
    bool fails = fake_fails(__func__);

    if (!buffer->own_data) {
        check_unused(buffer);
    }
    if (buffer->own_data) {
        free(buffer->data);
    }
    released(buffer);
    return fake_answer(fails ? OPENCL_OUT_OF_RESOURCES : OPENCL_SUCCESS);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **lines,
                                     const size_t *sizes, cl_int *code_p)
{
    cl_program program;

    if (fake_fails(__func__) || (count == 0) || (lines[0] == NULL)) {
        return made(NULL, OPENCL_OUT_OF_HOST_MEMORY, code_p);
    }
    program          = fresh(sizeof(*program));
    program->context = context;
    return made(program, OPENCL_SUCCESS, code_p);
}

cl_int clReleaseProgram(cl_program program)
{
    DO_ANYWAY(released(program));
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *list,
                      const char *options, void (*notify)(cl_program, void *), void *data)
{
    BEGIN_OR_FAIL(OPENCL_BUILD_PROGRAM_FAILURE);
    program->built = true;
    return fake_answer(OPENCL_SUCCESS);
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_uint what, size_t room,
                             void *to, size_t *size_p)
{
    static const char words[] = "line 1: pretended words of the compiler";

    BEGIN_OR_FAIL(OPENCL_OUT_OF_HOST_MEMORY);
    return fake_give(words, sizeof(words), room, to, size_p);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code_p)
{
    cl_kernel kernel;

    if (fake_fails(__func__) || !program->built) {
        return made(NULL, OPENCL_INVALID_PROGRAM_EXECUTABLE, code_p);
    }
    kernel          = fresh(sizeof(*kernel));
    kernel->program = program;
    snprintf(kernel->name, sizeof(kernel->name), "%s", name);
    return made(kernel, OPENCL_SUCCESS, code_p);
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    DO_ANYWAY(released(kernel));
}

static cl_int set_arg(cl_kernel kernel, cl_uint index, size_t size, const void *value, bool address)
{
    if ((index >= FAKE_ARGS) || (size > 8)) {
        return fake_answer(OPENCL_INVALID_ARG_INDEX);
    }
    kernel->args[index] = (struct fake_arg){.set = true, .is_address = address, .size = size};
    memcpy(kernel->args[index].bytes, value, size);
    return fake_answer(OPENCL_SUCCESS);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    BEGIN_OR_FAIL(OPENCL_INVALID_ARG_VALUE);
    return set_arg(kernel, index, size, value, false);
}

cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *value)
{
    BEGIN_OR_FAIL(OPENCL_INVALID_ARG_VALUE);
    return set_arg(kernel, index, sizeof(value), &value, true);
}

cl_int clSetKernelExecInfo(cl_kernel kernel, cl_uint what, size_t size, const void *value)
{
    size_t i;

    BEGIN_OR_FAIL(OPENCL_OUT_OF_HOST_MEMORY);
    if (what != OPENCL_KERNEL_EXEC_INFO_SVM_PTRS) {
        return fake_answer(OPENCL_SUCCESS);
    }
    if ((size == 0) || (size > sizeof(kernel->pointers))) {
        return fake_answer(OPENCL_INVALID_VALUE);
    }
    memcpy(kernel->pointers, value, size);
    kernel->pointer_count = size / sizeof(void *);
    for (i = 0; i < kernel->pointer_count; i++) {
        if (fake_block_at(kernel->pointers[i]) == NULL) {
            fake_broken("a kernel is told of %p, which is no memory", kernel->pointers[i]);
        }
    }
    return fake_answer(OPENCL_SUCCESS);
}
