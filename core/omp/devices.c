/* SPDX-License-Identifier: BSD-3-Clause */
/* devices.c: the device numbers that count, and the routines that return them. */

#include "core/base/calls.h"
#include "core/base/error.h"
#include "core/base/option.h"
#include "core/engine/thread.h"
#include "core/omp/abi.h"
#include "core/omp/openmp.h"
#include "core/omp/runtime.h"
#include <memspan/device.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef int number_fn(void);

/* Calls of this thread to the runtime that are under way, a bit each. A runtime may call us in
 * turn: for one answer of its own it may need another (then ours is the runtime's too), libomp
 * calls any library that exports __tgt_get_num_devices(), and a runtime that lies before us in
 * lookup order may find our routine behind its own. When the same question comes round, only this
 * library has devices. */
static _Thread_local unsigned asking;

/* The runtime is called until exit has begun, and until the thread's own data has gone, as the
 * runtime's has then. Later its last answers count. */
static struct msp_calls questions;
static atomic_int last_answers[MSP_OMP_REAL_GET_DEFAULT_DEVICE + 1];

static void watch_exit(void)
{
    msp_calls_watch_exit(&questions);
}

static int call_runtime(enum msp_omp_real which)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned bit               = 1u << (which - MSP_OMP_REAL_GET_NUM_DEVICES);
    uintptr_t routine          = msp_omp_real(which);
    int answer;

    if ((routine == 0) || ((asking & bit) != 0)) {
        return 0;
    }
    if (msp_thread_here.has_ended || !msp_calls_begin(&questions)) {
        return atomic_load(&last_answers[which]);
    }
    asking |= bit;
    answer = ((number_fn *)routine)();
    asking &= ~bit;
    atomic_store_explicit(&last_answers[which], answer, memory_order_relaxed);
    pthread_once(&once, watch_exit);
    msp_calls_end(&questions);
    return answer;
}

int msp_omp_runtime_device_count(void)
{
    int count = call_runtime(MSP_OMP_REAL_GET_NUM_DEVICES);

    return (count > 0) ? count : 0;
}

int msp_omp_runtime_host(void)
{
    int host = call_runtime(MSP_OMP_REAL_GET_INITIAL_DEVICE);

    return (host > 0) ? host : 0;
}

static bool has_runtime(void)
{
    return msp_omp_real(MSP_OMP_REAL_GET_INITIAL_DEVICE) != 0;
}

static bool opted_in(void)
{
    return msp_option_text(MSP_OPTION_DEVICES)[0] != '\0';
}

bool msp_omp_numbers_are_ours(void)
{
    return opted_in() && (msp_omp_runtime_device_count() == 0);
}

/* The runtime has no devices, and @p number is not its host. What this library has is named by its
 * own calls, or numbered by MEMSPAN_DEVICES. */
static memspan_status_t refuse_device(int number)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    int host                   = msp_omp_runtime_host();

    if (memspan_device_describe(number, &info) != MEMSPAN_OK) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND,
                      "there is no device %d: the OpenMP runtime has none, its host is %d", number,
                      host);
        return msp_error_hint("MEMSPAN_DEVICES numbers devices of this library; memquery lists "
                              "them");
    }
    memspan_error(MEMSPAN_ERR_NOT_FOUND,
                  "there is no device %d: the OpenMP runtime has none, its host is %d; in this "
                  "library's own calls the number is %s%d (%s)",
                  number, host, info.backend, info.ordinal, info.name);
    return msp_error_hint("set MEMSPAN_DEVICES=%s:%d to number it in OpenMP calls, or name it by "
                          "memspan_space_get()",
                          info.backend, info.ordinal);
}

int msp_omp_device_number(int number)
{
    if (number != MSP_OMP_DEFAULT_DEVICE) {
        return number;
    }
    if (msp_omp_real(MSP_OMP_REAL_GET_DEFAULT_DEVICE) == 0) {
        return MEMSPAN_HOST;
    }
    number = call_runtime(MSP_OMP_REAL_GET_DEFAULT_DEVICE);
    /* The runtime's own word: its host, and never a device of ours with the same number. */
    return ((number == MSP_OMP_DEFAULT_DEVICE) || (number == omp_get_initial_device()))
               ? MEMSPAN_HOST
               : number;
}

memspan_status_t msp_omp_device_from(int number, int *device_p)
{
    number = msp_omp_device_number(number);
    if (number < MEMSPAN_HOST) {
        memspan_error(MEMSPAN_ERR_INVALID, "%d is no device number", number);
        return msp_error_hint("devices are numbered from 0; %d is the host", MEMSPAN_HOST);
    }
    if ((number != MEMSPAN_HOST) && !opted_in() && (msp_omp_runtime_device_count() == 0)) {
        if (number != msp_omp_runtime_host()) {
            return refuse_device(number);
        }
        number = MEMSPAN_HOST;
    }
    *device_p = number;
    return MEMSPAN_OK;
}

bool msp_omp_runtime_has(int number)
{
    return (number >= 0) && has_runtime() && !msp_omp_numbers_are_ours() &&
           (number <= msp_omp_runtime_host());
}

int msp_omp_default_device(void)
{
    int device = MEMSPAN_HOST;

    if (msp_omp_numbers_are_ours()) {
        return ((memspan_device_count() > 0) && (memspan_device_at(0, &device) == MEMSPAN_OK))
                   ? device
                   : MEMSPAN_HOST;
    }
    if (msp_omp_runtime_device_count() > 0) {
        device = call_runtime(MSP_OMP_REAL_GET_DEFAULT_DEVICE);
        return ((device >= 0) && (device < msp_omp_runtime_host())) ? device : MEMSPAN_HOST;
    }
    return MEMSPAN_HOST;
}

int msp_omp_region_device(void)
{
    return (msp_omp_real(MSP_OMP_REAL_GET_DEFAULT_DEVICE) == 0)
               ? MEMSPAN_HOST
               : call_runtime(MSP_OMP_REAL_GET_DEFAULT_DEVICE);
}

int omp_get_num_devices(void)
{
    MSP_OMP_CALL();
    int count = msp_omp_runtime_device_count();

    if ((count == 0) && (asking == 0) && msp_omp_numbers_are_ours()) {
        count = memspan_device_count();
    }
    return count;
}

int omp_get_initial_device(void)
{
    MSP_OMP_CALL();
    if ((asking == 0) && msp_omp_numbers_are_ours()) {
        return memspan_host_device();
    }
    return msp_omp_runtime_host();
}

int32_t omp_get_num_devices_(void)
{
    MSP_OMP_CALL();
    return omp_get_num_devices();
}

int32_t omp_get_initial_device_(void)
{
    MSP_OMP_CALL();
    return omp_get_initial_device();
}

/* Asked by LLVM's host runtime: how many devices its offload runtime has. */
int __tgt_get_num_devices(void)
{
    MSP_OMP_CALL();
    uintptr_t offload = msp_omp_offload_find("omp_get_num_devices");

    if (offload != 0) {
        return ((number_fn *)offload)();
    }
    return ((asking != 0) || !opted_in()) ? 0 : memspan_device_count();
}

/* omp_invalid_device differs between compilers, and the runtime shows whose header was used. */
static int invalid_device(void)
{
    return (msp_omp_real(MSP_OMP_REAL_KMPC_GET_DEFAULT_ALLOCATOR) != 0) ? -2 : -4;
}

/* The host's name: the runtime's, where it has names. */
static const char *host_uid(void)
{
    uintptr_t routine = msp_omp_real(MSP_OMP_REAL_GET_UID_FROM_DEVICE);
    const char *uid   = NULL;

    if (routine != 0) {
        uid = ((const char *(*)(int))routine)(msp_omp_runtime_host());
    }
    return (uid == NULL) ? "HOST" : uid;
}

int omp_get_device_from_uid(const char *uid)
{
    MSP_OMP_CALL();
    uintptr_t routine = msp_omp_real(MSP_OMP_REAL_GET_DEVICE_FROM_UID);
    int device        = invalid_device();
    int count;
    int i;

    if (uid == NULL) {
        memspan_error(MEMSPAN_ERR_INVALID, "uid is NULL");
        msp_omp_refused("omp_get_device_from_uid");
        return device;
    }
    if ((strcmp(uid, "HOST") == 0) || (strcmp(uid, host_uid()) == 0)) {
        return omp_get_initial_device();
    }
    if ((routine != 0) && !msp_omp_numbers_are_ours()) {
        device = ((int (*)(const char *))routine)(uid);
    }
    /* LLVM's host runtime takes any text for the host, which this is not. */
    if ((device >= 0) && (device != msp_omp_runtime_host())) {
        return device;
    }
    count = omp_get_num_devices();
    for (i = 0; i < count; i++) {
        memspan_device_info_t info = {.struct_size = sizeof(info)};
        if ((memspan_device_describe(i, &info) == MEMSPAN_OK) && (strcmp(info.uid, uid) == 0)) {
            return i;
        }
    }
    memspan_error(MEMSPAN_ERR_NOT_FOUND, "no device has the uid \"%.64s\"", uid);
    return invalid_device();
}

const char *omp_get_uid_from_device(int device)
{
    MSP_OMP_CALL();
    static struct msp_omp_table texts = MSP_OMP_TABLE_INIT; /* device + 2 to its uid */
    memspan_device_info_t info        = {.struct_size = sizeof(info)};
    uintptr_t routine                 = msp_omp_real(MSP_OMP_REAL_GET_UID_FROM_DEVICE);
    uintptr_t known;
    char *text;

    device = msp_omp_device_number(device);
    if ((device == MEMSPAN_HOST) || (device == omp_get_initial_device())) {
        return host_uid();
    }
    if ((routine != 0) && msp_omp_runtime_has(device)) {
        return ((const char *(*)(int))routine)(device);
    }
    if ((msp_omp_device_from(device, &device) != MEMSPAN_OK) ||
        (memspan_device_describe(device, &info) != MEMSPAN_OK)) {
        msp_omp_refused("omp_get_uid_from_device");
        return NULL;
    }
    if (msp_omp_table_get(&texts, (uintptr_t)device + 2, &known)) {
        return (const char *)known;
    }
    /* Kept for ever, one a device; a thread that raced loses one. */
    text = strdup(info.uid);
    if (text != NULL) {
        msp_omp_table_put(&texts, (uintptr_t)device + 2, (uintptr_t)text);
    }
    return text;
}
