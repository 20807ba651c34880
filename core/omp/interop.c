/* SPDX-License-Identifier: BSD-3-Clause */
/* interop.c: the properties of interop objects, and the way from an object to a queue and back. */

#include "core/omp/interop.h"
#include "core/base/error.h"
#include "core/omp/openmp.h"
#include <memspan/device.h>

bool msp_interop_get(uintptr_t handle, struct msp_interop *object_p)
{
    struct msp_queue *q = msp_queue_acquire((memspan_queue_h)handle);

    if (q == NULL) {
        return false;
    }
    *object_p =
        (struct msp_interop){q->device->number, q->is_immediate, q->interop, q->type, q->given};
    msp_queue_release(q);
    if (object_p->number == MEMSPAN_HOST) {
        object_p->number = omp_get_initial_device();
    }
    return true;
}

/* ---- properties ---- */

/* OpenMP's numbers: omp_interop_property_t, omp_interop_rc_t, and its "Additional Definitions" of
 * foreign runtimes. */
enum {
    FR_ID          = -1,
    FR_NAME        = -2,
    VENDOR         = -3,
    VENDOR_NAME    = -4,
    DEVICE_NUM     = -5,
    PLATFORM       = -6,
    DEVICE         = -7,
    DEVICE_CONTEXT = -8,
    TARGETSYNC     = -9
};
enum {
    NO_VALUE     = 1,
    SUCCESS      = 0,
    EMPTY        = -1,
    OUT_OF_RANGE = -2,
    TYPE_INT     = -3,
    TYPE_PTR     = -4,
    TYPE_STR     = -5,
    OTHER        = -6
};
enum {
    FR_MEMSPAN     = 0x4d01,
    FR_CUDA        = 1,
    FR_CUDA_DRIVER = 2,
    FR_OPENCL      = 3,
    FR_HIP         = 5,
    FR_LEVEL_ZERO  = 6
};

/* What the queue of an object is, by its type. */
static const struct foreign {
    int id;
    const char *name;
    const char *type; /* of the property targetsync */
} foreigns[] = {
    [MEMSPAN_QUEUE_OWN]        = {FR_MEMSPAN, "memspan", "memspan_queue_h"},
    [MEMSPAN_QUEUE_CUDA]       = {FR_CUDA_DRIVER, "cuda_driver", "CUstream"},
    [MEMSPAN_QUEUE_HIP]        = {FR_HIP, "hip", "hipStream_t"},
    [MEMSPAN_QUEUE_OPENCL]     = {FR_OPENCL, "opencl", "cl_command_queue"},
    [MEMSPAN_QUEUE_LEVEL_ZERO] = {FR_LEVEL_ZERO, "level_zero", "ze_command_list_handle_t"},
};

enum { FOREIGN_COUNT = sizeof(foreigns) / sizeof(foreigns[0]) };

static const struct {
    const char *name;
    const char *type;
    int type_rc; /* of a getter for another type */
} properties[] = {
    {"fr_id", "int", TYPE_INT},         {"fr_name", "const char *", TYPE_STR},
    {"vendor", "int", TYPE_INT},        {"vendor_name", "const char *", TYPE_STR},
    {"device_num", "int", TYPE_INT},    {"platform", "void *", TYPE_PTR},
    {"device", "void *", TYPE_PTR},     {"device_context", "void *", TYPE_PTR},
    {"targetsync", "void *", TYPE_PTR},
};

static bool is_property(int property)
{
    return (property <= FR_ID) && (property >= TARGETSYNC);
}

/* The object, where it has a property of that type; else a result code other than SUCCESS. */
static int find(uintptr_t handle, int property, int type_rc, struct msp_interop *object_p)
{
    if (handle == 0) {
        return EMPTY;
    }
    if (!msp_interop_get(handle, object_p)) {
        return OTHER;
    }
    if (!is_property(property)) {
        return OUT_OF_RANGE;
    }
    return (properties[-1 - property].type_rc == type_rc) ? SUCCESS
                                                          : properties[-1 - property].type_rc;
}

static void give_code(int *code_p, int code)
{
    if (code_p != NULL) {
        *code_p = code;
    }
}

intptr_t omp_get_interop_int(uintptr_t handle, int property, int *code_p)
{
    MSP_OMP_CALL();
    uintptr_t real = msp_omp_real(MSP_OMP_REAL_GET_INTEROP_INT);
    struct msp_interop object;
    intptr_t value = 0;
    int code;

    if ((handle != 0) && !msp_interop_is_ours(handle) && (real != 0)) {
        return ((intptr_t(*)(uintptr_t, int, int *))real)(handle, property, code_p);
    }
    code = find(handle, property, TYPE_INT, &object);
    if ((code == SUCCESS) && (property == FR_ID)) {
        value = foreigns[object.type].id;
    } else if ((code == SUCCESS) && (property == DEVICE_NUM)) {
        value = object.number;
    } else if (code == SUCCESS) {
        code = NO_VALUE; /* no number of a vendor is ours */
    }
    give_code(code_p, code);
    return value;
}

void *omp_get_interop_ptr(uintptr_t handle, int property, int *code_p)
{
    MSP_OMP_CALL();
    uintptr_t real = msp_omp_real(MSP_OMP_REAL_GET_INTEROP_PTR);
    struct msp_interop object;
    void *value = NULL;
    int code;

    if ((handle != 0) && !msp_interop_is_ours(handle) && (real != 0)) {
        return ((void *(*)(uintptr_t, int, int *))real)(handle, property, code_p);
    }
    code = find(handle, property, TYPE_PTR, &object);
    if ((code == SUCCESS) && (property == TARGETSYNC) && (object.made != MSP_INTEROP_TARGET)) {
        value = (object.type == MEMSPAN_QUEUE_OWN) ? (void *)handle : object.native;
    } else if (code == SUCCESS) {
        code = NO_VALUE;
    }
    give_code(code_p, code);
    return value;
}

const char *omp_get_interop_str(uintptr_t handle, int property, int *code_p)
{
    MSP_OMP_CALL();
    uintptr_t real = msp_omp_real(MSP_OMP_REAL_GET_INTEROP_STR);
    struct msp_interop object;
    const char *value = NULL;
    int code;

    if ((handle != 0) && !msp_interop_is_ours(handle) && (real != 0)) {
        return ((const char *(*)(uintptr_t, int, int *))real)(handle, property, code_p);
    }
    code = find(handle, property, TYPE_STR, &object);
    if (code == SUCCESS) {
        value = (property == FR_NAME) ? foreigns[object.type].name : "memspan";
    }
    give_code(code_p, code);
    return value;
}

int omp_get_num_interop_properties(uintptr_t handle)
{
    MSP_OMP_CALL();
    uintptr_t real = msp_omp_real(MSP_OMP_REAL_GET_NUM_INTEROP_PROPERTIES);

    return ((handle != 0) && !msp_interop_is_ours(handle) && (real != 0))
               ? ((int (*)(uintptr_t))real)(handle)
               : 0;
}

typedef const char *describe_fn(uintptr_t handle, int number);

const char *omp_get_interop_name(uintptr_t handle, int property)
{
    MSP_OMP_CALL();
    uintptr_t real = msp_omp_real(MSP_OMP_REAL_GET_INTEROP_NAME);

    if ((handle != 0) && !msp_interop_is_ours(handle) && (real != 0)) {
        return ((describe_fn *)real)(handle, property);
    }
    return is_property(property) ? properties[-1 - property].name : NULL;
}

const char *omp_get_interop_type_desc(uintptr_t handle, int property)
{
    MSP_OMP_CALL();
    uintptr_t real = msp_omp_real(MSP_OMP_REAL_GET_INTEROP_TYPE_DESC);
    struct msp_interop object;

    if ((handle != 0) && !msp_interop_is_ours(handle) && (real != 0)) {
        return ((describe_fn *)real)(handle, property);
    }
    if ((property == TARGETSYNC) && (handle != 0) && msp_interop_get(handle, &object)) {
        return foreigns[object.type].type;
    }
    return is_property(property) ? properties[-1 - property].type : NULL;
}

const char *omp_get_interop_rc_desc(uintptr_t handle, int code)
{
    MSP_OMP_CALL();
    static const char *const texts[] = {"no value is available",    "success",
                                        "the object is none",       "the property is out of range",
                                        "the property is an int",   "the property is a pointer",
                                        "the property is a string", "another error"};
    uintptr_t real                   = msp_omp_real(MSP_OMP_REAL_GET_INTEROP_RC_DESC);

    if ((handle != 0) && !msp_interop_is_ours(handle) && (real != 0)) {
        return ((describe_fn *)real)(handle, code);
    }
    return ((code <= NO_VALUE) && (code >= OTHER)) ? texts[NO_VALUE - code] : NULL;
}

/* ---- queues ---- */

/* memspan_queue_open(), or memspan_queue_get(). */
typedef memspan_status_t open_fn(int device, memspan_queue_type_t type, void *native,
                                 unsigned flags, memspan_queue_h *queue_p);

/* A queue over the stream of a runtime's object. */
static memspan_status_t open_foreign(uintptr_t handle, open_fn *open, memspan_queue_h *queue_p)
{
    int code    = SUCCESS;
    intptr_t id = omp_get_interop_int(handle, FR_ID, &code);
    intptr_t number;
    void *native;
    int type;

    if (code != SUCCESS) {
        return memspan_error(MEMSPAN_ERR_INVALID, "0x%llx is no interop object of the runtime",
                             (unsigned long long)handle);
    }
    number = omp_get_interop_int(handle, DEVICE_NUM, &code);
    native = (code == SUCCESS) ? omp_get_interop_ptr(handle, TARGETSYNC, &code) : NULL;
    if (code != SUCCESS) {
        memspan_error(MEMSPAN_ERR_INVALID, "the interop object has no queue: code %d", code);
        return msp_error_hint("make it with init(targetsync: object)");
    }
    id = (id == FR_CUDA) ? FR_CUDA_DRIVER : id; /* their streams are the same */
    if (id == FR_LEVEL_ZERO) {                  /* a queue or a list: the handle does not show it */
        id = -1;
    }
    for (type = MEMSPAN_QUEUE_OWN + 1; (type < FOREIGN_COUNT) && (foreigns[type].id != id);
         type++) {
    }
    if (type == FOREIGN_COUNT) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "there are no queues of foreign runtime %d",
                      (int)id);
        return msp_error_hint("name another one with prefer_type");
    }
    return open((int)number, (memspan_queue_type_t)type, native, MEMSPAN_QUEUE_LASTING, queue_p);
}

static memspan_status_t find_queue(uintptr_t handle, open_fn *open, memspan_queue_h *queue_p)
{
    struct msp_interop object;

    if ((queue_p == NULL) || (handle == 0)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%s",
                             (handle == 0) ? "the interop object is omp_interop_none"
                                           : "no place for the queue's handle");
    }
    if (!msp_interop_is_ours(handle)) {
        return open_foreign(handle, open, queue_p);
    }
    if (!msp_interop_get(handle, &object)) {
        return memspan_error_last()->status;
    }
    if (object.made == MSP_INTEROP_TARGET) {
        memspan_error(MEMSPAN_ERR_INVALID, "the interop object has no queue");
        return msp_error_hint("make it with init(targetsync: object)");
    }
    *queue_p = (memspan_queue_h)handle;
    return MEMSPAN_OK;
}

memspan_status_t memspan_queue_of_interop(uintptr_t handle, memspan_queue_h *queue_p)
{
    MSP_OMP_CALL();

    return find_queue(handle, memspan_queue_open, queue_p);
}

memspan_status_t memspan_omp_attach(void *pointer, uintptr_t handle)
{
    MSP_OMP_CALL();
    memspan_queue_h queue   = MEMSPAN_QUEUE_NULL;
    memspan_status_t status = MEMSPAN_OK;

    if (handle != 0) {
        status = find_queue(handle, memspan_queue_get, &queue);
    }
    if (status == MEMSPAN_OK) {
        status = memspan_queue_attach(pointer, queue);
    }
    if (status != MEMSPAN_OK) {
        msp_omp_refused("memspan_omp_attach");
    }
    return status;
}

memspan_status_t memspan_interop_of_queue(memspan_queue_h queue, uintptr_t *handle_p)
{
    struct msp_interop object;

    if (handle_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no place for the interop object");
    }
    if (!msp_interop_get((uintptr_t)queue, &object)) {
        return memspan_error_last()->status;
    }
    *handle_p = (uintptr_t)queue;
    return MEMSPAN_OK;
}
