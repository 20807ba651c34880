/* SPDX-License-Identifier: BSD-3-Clause */
/* region.c: the calls of Clang (from 15) for target regions and mapped data. All goes on to the
 * runtime; the watcher of regions (core/base/region.h) is called before and after, and mapped.c
 * where variables have allocators. */

#include "core/base/region.h"
#include "core/omp/abi.h"
#include "core/omp/mapped.h"
#include "core/omp/openmp.h"

/* OFFLOAD_DEVICE_DEFAULT of the ABI. */
static int number_of(int64_t device)
{
    return (device == -1) ? msp_omp_region_device() : (int)device;
}

typedef int kernel_nowait_fn(void *, int64_t, int32_t, int32_t, void *, void *, int32_t, void *,
                             int32_t, void *);
typedef void data_nowait_fn(void *, int64_t, int32_t, void **, void **, int64_t *, int64_t *,
                            void **, void **, int32_t, void *, int32_t, void *);

/* Without a runtime a region runs on the host: by that result the caller does so. */
enum { RUN_ON_HOST = 1 };

/* The runtime may return from a call of its own tasks before the work is done; where its end must
 * be seen, it is done at once. The caller is such a task, which the runtime made when the
 * dependences were satisfied. */
static bool waits(void)
{
    return (msp_region_watched() != NULL) || msp_omp_mapped_is_set();
}

static int run_kernel(uintptr_t real, int number, void *location, int64_t device, int32_t teams,
                      int32_t threads, void *region, void *arguments)
{
    if (msp_omp_mapped_is_set()) {
        return msp_omp_mapped_kernel((msp_omp_kernel_fn *)real, number, location, device, teams,
                                     threads, region, arguments);
    }
    return ((msp_omp_kernel_fn *)real)(location, device, teams, threads, region, arguments);
}

int __tgt_target_kernel(void *location, int64_t device, int32_t teams, int32_t threads,
                        void *region, void *arguments)
{
    MSP_OMP_CALL();
    uintptr_t real                     = msp_omp_real(MSP_OMP_REAL_TGT_KERNEL);
    const struct msp_omp_kernel *given = arguments;
    const struct msp_region_watcher *entered;
    int number;
    int result;

    if (real == 0) {
        return RUN_ON_HOST;
    }
    if (!waits()) {
        return ((msp_omp_kernel_fn *)real)(location, device, teams, threads, region, arguments);
    }
    number  = number_of(device);
    entered = msp_region_enter(number);
    result  = run_kernel(real, number, location, device, teams, threads, region, arguments);
    msp_region_leave(entered, number);
    /* Otherwise the caller runs it, on the host. */
    if ((result == 0) && (entered != NULL) && msp_region_is_unwaited()) {
        entered->unwaited(entered->state, number, given->bases, given->count);
    }
    return result;
}

int __tgt_target_kernel_nowait(void *location, int64_t device, int32_t teams, int32_t threads,
                               void *region, void *arguments, int32_t depend_count, void *depends,
                               int32_t other_count, void *others)
{
    MSP_OMP_CALL();
    uintptr_t real = msp_omp_real(MSP_OMP_REAL_TGT_KERNEL_NOWAIT);

    if ((real == 0) || waits()) {
        return __tgt_target_kernel(location, device, teams, threads, region, arguments);
    }
    return ((kernel_nowait_fn *)real)(location, device, teams, threads, region, arguments,
                                      depend_count, depends, other_count, others);
}

static void move_data(enum msp_omp_real which, struct msp_omp_data *data)
{
    const struct msp_region_watcher *entered;

    if (!waits()) {
        msp_omp_data_forward(which, data);
        return;
    }
    data->number = number_of(data->device);
    entered      = msp_region_enter(data->number);
    if (msp_omp_mapped_is_set() && (which != MSP_OMP_REAL_TGT_DATA_UPDATE)) {
        msp_omp_mapped_move(which, data);
    } else {
        msp_omp_data_forward(which, data);
    }
    msp_region_leave(entered, data->number);
}

#define DATA_ROUTINE(name, nowait_name, which)                                                     \
    void name(void *location, int64_t device, int32_t count, void **bases, void **begins,          \
              int64_t *sizes, int64_t *types, void **names, void **mappers)                        \
    {                                                                                              \
        MSP_OMP_CALL();                                                                            \
        struct msp_omp_data data = {location, device, -1,    count, bases,                         \
                                    begins,   sizes,  types, names, mappers};                      \
                                                                                                   \
        move_data(which, &data);                                                                   \
    }                                                                                              \
    void nowait_name(void *location, int64_t device, int32_t count, void **bases, void **begins,   \
                     int64_t *sizes, int64_t *types, void **names, void **mappers,                 \
                     int32_t depend_count, void *depends, int32_t other_count, void *others)       \
    {                                                                                              \
        MSP_OMP_CALL();                                                                            \
        uintptr_t real           = msp_omp_real(which##_NOWAIT);                                   \
        struct msp_omp_data data = {location, device, -1,    count, bases,                         \
                                    begins,   sizes,  types, names, mappers};                      \
                                                                                                   \
        if ((real == 0) || waits()) {                                                              \
            move_data(which, &data);                                                               \
            return;                                                                                \
        }                                                                                          \
        ((data_nowait_fn *)real)(location, device, count, bases, begins, sizes, types, names,      \
                                 mappers, depend_count, depends, other_count, others);             \
    }

typedef void push_fn(void *, void *, void *, int64_t, int64_t, void *);

/* The runtime calls a mapper, and that calls this. */
void __tgt_push_mapper_component(void *components, void *base, void *begin, int64_t size_bytes,
                                 int64_t type, void *name)
{
    MSP_OMP_CALL();
    uintptr_t real = msp_omp_real(MSP_OMP_REAL_TGT_PUSH_COMPONENT);

    if (msp_omp_mapped_is_set()) {
        msp_omp_mapped_component(base, &begin, size_bytes, &type);
    }
    if (real != 0) {
        ((push_fn *)real)(components, base, begin, size_bytes, type, name);
    }
}

DATA_ROUTINE(__tgt_target_data_begin_mapper, __tgt_target_data_begin_nowait_mapper,
             MSP_OMP_REAL_TGT_DATA_BEGIN)
DATA_ROUTINE(__tgt_target_data_end_mapper, __tgt_target_data_end_nowait_mapper,
             MSP_OMP_REAL_TGT_DATA_END)
DATA_ROUTINE(__tgt_target_data_update_mapper, __tgt_target_data_update_nowait_mapper,
             MSP_OMP_REAL_TGT_DATA_UPDATE)
