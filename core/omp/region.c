/* SPDX-License-Identifier: BSD-3-Clause */
/* region.c: what Clang (from 15) calls for target regions and mapped data. All goes on to the
 * runtime; the watcher of regions (core/base/region.h) is called before and after. */

#include "core/base/region.h"
#include "core/omp/abi.h"
#include "core/omp/devices.h"
#include "core/omp/region_task.h"
#include "core/omp/runtime.h"

/* OFFLOAD_DEVICE_DEFAULT of the ABI. */
static int number_of(int64_t device)
{
    return (device == -1) ? msp_omp_default_device() : (int)device;
}

typedef int kernel_fn(void *, int64_t, int32_t, int32_t, void *, void *);
typedef int kernel_nowait_fn(void *, int64_t, int32_t, int32_t, void *, void *, int32_t, void *,
                             int32_t, void *);
typedef void data_fn(void *, int64_t, int32_t, void **, void **, int64_t *, int64_t *, void **,
                     void **);
typedef void data_nowait_fn(void *, int64_t, int32_t, void **, void **, int64_t *, int64_t *,
                            void **, void **, int32_t, void *, int32_t, void *);

/* How every version of the ABI begins what it says of a region. */
struct kernel_arguments {
    uint32_t version;
    uint32_t count;
    void **bases;
};

/* Without a runtime a region runs on the host: the result tells the caller to do that. */
enum { RUN_ON_HOST = 1 };

int __tgt_target_kernel(void *location, int64_t device, int32_t teams, int32_t threads,
                        void *region, void *arguments)
{
    MSP_OMP_CALL();
    uintptr_t real                       = msp_omp_real(MSP_OMP_REAL_TGT_KERNEL);
    const struct kernel_arguments *given = arguments;
    const struct msp_region_watcher *entered;
    int result;

    if (real == 0) {
        return RUN_ON_HOST;
    }
    if (msp_region_watched() == NULL) {
        return ((kernel_fn *)real)(location, device, teams, threads, region, arguments);
    }
    entered = msp_region_enter(number_of(device));
    result  = ((kernel_fn *)real)(location, device, teams, threads, region, arguments);
    msp_region_leave(entered, number_of(device));
    /* Otherwise the caller runs it, on the host. */
    if ((result == 0) && (entered != NULL) && msp_region_is_unwaited()) {
        entered->unwaited(entered->state, number_of(device), given->bases, given->count);
    }
    return result;
}

/* The runtime may come back with the region's work still to be done, when it is called from a task
 * of its own; while regions are watched it is executed at once instead. */
int __tgt_target_kernel_nowait(void *location, int64_t device, int32_t teams, int32_t threads,
                               void *region, void *arguments, int32_t depend_count, void *depends,
                               int32_t other_count, void *others)
{
    MSP_OMP_CALL();
    uintptr_t real = msp_omp_real(MSP_OMP_REAL_TGT_KERNEL_NOWAIT);

    if ((real == 0) || (msp_region_watched() != NULL)) {
        return __tgt_target_kernel(location, device, teams, threads, region, arguments);
    }
    return ((kernel_nowait_fn *)real)(location, device, teams, threads, region, arguments,
                                      depend_count, depends, other_count, others);
}

static void move_data(enum msp_omp_real which, void *location, int64_t device, int32_t count,
                      void **bases, void **begins, int64_t *sizes, int64_t *types, void **names,
                      void **mappers)
{
    uintptr_t real = msp_omp_real(which);
    const struct msp_region_watcher *entered;

    if (real == 0) {
        return;
    }
    entered = (msp_region_watched() == NULL) ? NULL : msp_region_enter(number_of(device));
    ((data_fn *)real)(location, device, count, bases, begins, sizes, types, names, mappers);
    if (entered != NULL) {
        msp_region_leave(entered, number_of(device));
    }
}

#define DATA_ROUTINE(name, nowait_name, which)                                                     \
    void name(void *location, int64_t device, int32_t count, void **bases, void **begins,          \
              int64_t *sizes, int64_t *types, void **names, void **mappers)                        \
    {                                                                                              \
        MSP_OMP_CALL();                                                                            \
        move_data(which, location, device, count, bases, begins, sizes, types, names, mappers);    \
    }                                                                                              \
    void nowait_name(void *location, int64_t device, int32_t count, void **bases, void **begins,   \
                     int64_t *sizes, int64_t *types, void **names, void **mappers,                 \
                     int32_t depend_count, void *depends, int32_t other_count, void *others)       \
    {                                                                                              \
        MSP_OMP_CALL();                                                                            \
        uintptr_t real = msp_omp_real(which##_NOWAIT);                                             \
                                                                                                   \
        if ((real == 0) || (msp_region_watched() != NULL)) {                                       \
            move_data(which, location, device, count, bases, begins, sizes, types, names,          \
                      mappers);                                                                    \
            return;                                                                                \
        }                                                                                          \
        ((data_nowait_fn *)real)(location, device, count, bases, begins, sizes, types, names,      \
                                 mappers, depend_count, depends, other_count, others);             \
    }

DATA_ROUTINE(__tgt_target_data_begin_mapper, __tgt_target_data_begin_nowait_mapper,
             MSP_OMP_REAL_TGT_DATA_BEGIN)
DATA_ROUTINE(__tgt_target_data_end_mapper, __tgt_target_data_end_nowait_mapper,
             MSP_OMP_REAL_TGT_DATA_END)
DATA_ROUTINE(__tgt_target_data_update_mapper, __tgt_target_data_update_nowait_mapper,
             MSP_OMP_REAL_TGT_DATA_UPDATE)
