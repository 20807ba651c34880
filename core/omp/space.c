/* SPDX-License-Identifier: BSD-3-Clause */
/* space.c: memory spaces and allocators for lists of devices (the proposal's
 * omp_get_target_memspace, OpenMP 6.0's retrieving routines), parts of spaces, and the allocators
 * that go with whole spaces. */

#include "core/base/error.h"
#include "core/omp/abi.h"
#include "core/omp/openmp.h"
#include "core/omp/runtime.h"
#include <memspan/allocator.h>
#include <memspan/space.h>
#include <stdlib.h>

/* More entries than any machine has devices: a longer list is a mistake. */
enum { LIST_MAX = 1 << 16 };

/* The space of @p count listed devices, and the host too where @p with_host. */
static memspan_status_t space_of_list(int count, const int *devices, bool with_host,
                                      msp_omp_space_t base, memspan_space_h *space_p)
{
    memspan_space_h own_base;
    memspan_status_t status;
    size_t used = 0;
    int *list;
    int i;

    if ((count < 0) || (count > LIST_MAX) || ((count == 0) && !with_host)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "the number of devices is %d", count);
    }
    if ((devices == NULL) && (count > 0)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "the list of %d devices is NULL", count);
    }
    status = msp_omp_space_from(base, &own_base);
    if (status != MEMSPAN_OK) {
        return status;
    }
    list = malloc(((size_t)count + 1) * sizeof(*list));
    if (list == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no room for a list of %d devices", count);
    }
    if (with_host) {
        list[used++] = MEMSPAN_HOST;
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < count); i++) {
        status = msp_omp_device_from(devices[i], &list[used++]);
    }
    if (status == MEMSPAN_OK) {
        status = memspan_space_get(list, used, own_base, space_p);
    }
    free(list);
    return status;
}

/* The runtime's routine where the program brings its own offload library; else 0. */
static uintptr_t theirs(enum msp_omp_real which)
{
    return msp_omp_program_offloads() ? msp_omp_real(which) : 0;
}

typedef uintptr_t list_fn(int device_count, const int *devices, msp_omp_space_t space);
typedef uintptr_t one_fn(int device, msp_omp_space_t space);
typedef uintptr_t all_fn(msp_omp_space_t space);
typedef int count_fn(msp_omp_space_t space);
typedef msp_omp_space_t part_fn(msp_omp_space_t space, int count, const int *resources);

/* A handle of a space or an allocator; the log reports a null one. */
static uintptr_t logged(const char *routine, uintptr_t handle)
{
    if (handle == 0) {
        msp_omp_refused(routine);
    }
    return handle;
}

static msp_omp_space_t list_space(int count, const int *devices, bool with_host,
                                  msp_omp_space_t base)
{
    memspan_space_h space;

    return (space_of_list(count, devices, with_host, base, &space) == MEMSPAN_OK)
               ? (msp_omp_space_t)space
               : 0;
}

/* The host and every device that omp_get_num_devices() counts. */
static msp_omp_space_t all_space(msp_omp_space_t base)
{
    int count = omp_get_num_devices();
    msp_omp_space_t space;
    int *devices;
    int i;

    if (count <= 0) {
        return list_space(0, NULL, true, base);
    }
    devices = malloc((size_t)count * sizeof(*devices));
    if (devices == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no room for a list of %d devices", count);
        return 0;
    }
    for (i = 0; i < count; i++) {
        devices[i] = i;
    }
    space = list_space(count, devices, true, base);
    free(devices);
    return space;
}

/* The address of a word that holds @p space: one for each space, for ever. */
static msp_omp_space_t *cell_of(msp_omp_space_t space)
{
    static struct msp_omp_table cells = MSP_OMP_TABLE_INIT;
    uintptr_t known                   = 0;
    msp_omp_space_t *cell             = NULL;
    uintptr_t key                     = space + 2; /* handles start at 1 */

    msp_omp_lock();
    if (msp_omp_table_get(&cells, key, &known)) {
        cell = (msp_omp_space_t *)known;
    } else {
        cell = malloc(sizeof(*cell));
        if ((cell != NULL) && msp_omp_table_put(&cells, key, (uintptr_t)cell)) {
            *cell = space;
        } else {
            memspan_error(MEMSPAN_ERR_NO_MEMORY, "no room for a memory space handle");
            free(cell);
            cell = NULL;
        }
    }
    msp_omp_unlock();
    return cell;
}

msp_omp_space_t *omp_get_target_memspace(int device_count, int *devices, msp_omp_space_t space)
{
    MSP_OMP_CALL();
    msp_omp_space_t found = list_space(device_count, devices, false, space);

    msp_omp_space_t *cell = (found == 0) ? NULL : cell_of(found);

    if (cell == NULL) {
        msp_omp_refused("omp_get_target_memspace");
    }
    return cell;
}

msp_omp_space_t omp_get_devices_memspace(int device_count, const int *devices,
                                         msp_omp_space_t space)
{
    MSP_OMP_CALL();
    uintptr_t real = theirs(MSP_OMP_REAL_GET_DEVICES_MEMSPACE);

    if (real != 0) {
        return ((list_fn *)real)(device_count, devices, space);
    }
    return logged("omp_get_devices_memspace", list_space(device_count, devices, false, space));
}

msp_omp_space_t omp_get_device_memspace(int device, msp_omp_space_t space)
{
    MSP_OMP_CALL();
    uintptr_t real = theirs(MSP_OMP_REAL_GET_DEVICE_MEMSPACE);

    if (real != 0) {
        return ((one_fn *)real)(device, space);
    }
    return logged("omp_get_device_memspace", list_space(1, &device, false, space));
}

msp_omp_space_t omp_get_devices_and_host_memspace(int device_count, const int *devices,
                                                  msp_omp_space_t space)
{
    MSP_OMP_CALL();
    uintptr_t real = theirs(MSP_OMP_REAL_GET_DEVICES_AND_HOST_MEMSPACE);

    if (real != 0) {
        return ((list_fn *)real)(device_count, devices, space);
    }
    return logged("omp_get_devices_and_host_memspace",
                  list_space(device_count, devices, true, space));
}

msp_omp_space_t omp_get_device_and_host_memspace(int device, msp_omp_space_t space)
{
    MSP_OMP_CALL();
    uintptr_t real = theirs(MSP_OMP_REAL_GET_DEVICE_AND_HOST_MEMSPACE);

    if (real != 0) {
        return ((one_fn *)real)(device, space);
    }
    return logged("omp_get_device_and_host_memspace", list_space(1, &device, true, space));
}

msp_omp_space_t omp_get_devices_all_memspace(msp_omp_space_t space)
{
    MSP_OMP_CALL();
    uintptr_t real = theirs(MSP_OMP_REAL_GET_DEVICES_ALL_MEMSPACE);

    if (real != 0) {
        return ((all_fn *)real)(space);
    }
    return logged("omp_get_devices_all_memspace", all_space(space));
}

/* Allocators for whole spaces, both ways round. */
static struct msp_omp_table allocator_by_space = MSP_OMP_TABLE_INIT;
static struct msp_omp_table space_by_allocator = MSP_OMP_TABLE_INIT;

msp_omp_allocator_t msp_omp_allocator_for_space(memspan_space_h space)
{
    msp_omp_allocator_t allocator = msp_omp_allocator_of_space((msp_omp_space_t)space);
    uintptr_t key                 = (uintptr_t)space;
    memspan_allocator_h made;

    if ((space == MEMSPAN_SPACE_NULL) || (allocator != 0)) {
        return (space == MEMSPAN_SPACE_NULL) ? 0 : allocator;
    }
    msp_omp_lock();
    if (!msp_omp_table_get(&allocator_by_space, key, &allocator) &&
        (memspan_allocator_create(space, NULL, 0, &made) == MEMSPAN_OK)) {
        allocator = (msp_omp_allocator_t)made;
        if (!msp_omp_table_put(&space_by_allocator, allocator, key) ||
            !msp_omp_table_put(&allocator_by_space, key, allocator)) {
            memspan_error(MEMSPAN_ERR_NO_MEMORY, "no room for an allocator's record");
            memspan_allocator_destroy(made);
            allocator = 0;
        }
    }
    msp_omp_unlock();
    return allocator;
}

bool msp_omp_allocator_is_shared(msp_omp_allocator_t allocator)
{
    uintptr_t space;

    return (atomic_load_explicit(&space_by_allocator.live, memory_order_relaxed) > 0) &&
           (allocator > 1) && msp_omp_table_get(&space_by_allocator, allocator, &space);
}

static msp_omp_allocator_t allocator_for(msp_omp_space_t space)
{
    return msp_omp_allocator_for_space((memspan_space_h)space);
}

msp_omp_allocator_t omp_get_devices_allocator(int device_count, const int *devices,
                                              msp_omp_space_t space)
{
    MSP_OMP_CALL();
    uintptr_t real = theirs(MSP_OMP_REAL_GET_DEVICES_ALLOCATOR);

    if (real != 0) {
        return ((list_fn *)real)(device_count, devices, space);
    }
    return logged("omp_get_devices_allocator",
                  allocator_for(list_space(device_count, devices, false, space)));
}

msp_omp_allocator_t omp_get_device_allocator(int device, msp_omp_space_t space)
{
    MSP_OMP_CALL();
    uintptr_t real = theirs(MSP_OMP_REAL_GET_DEVICE_ALLOCATOR);

    if (real != 0) {
        return ((one_fn *)real)(device, space);
    }
    return logged("omp_get_device_allocator", allocator_for(list_space(1, &device, false, space)));
}

msp_omp_allocator_t omp_get_devices_and_host_allocator(int device_count, const int *devices,
                                                       msp_omp_space_t space)
{
    MSP_OMP_CALL();
    uintptr_t real = theirs(MSP_OMP_REAL_GET_DEVICES_AND_HOST_ALLOCATOR);

    if (real != 0) {
        return ((list_fn *)real)(device_count, devices, space);
    }
    return logged("omp_get_devices_and_host_allocator",
                  allocator_for(list_space(device_count, devices, true, space)));
}

msp_omp_allocator_t omp_get_device_and_host_allocator(int device, msp_omp_space_t space)
{
    MSP_OMP_CALL();
    uintptr_t real = theirs(MSP_OMP_REAL_GET_DEVICE_AND_HOST_ALLOCATOR);

    if (real != 0) {
        return ((one_fn *)real)(device, space);
    }
    return logged("omp_get_device_and_host_allocator",
                  allocator_for(list_space(1, &device, true, space)));
}

msp_omp_allocator_t omp_get_devices_all_allocator(msp_omp_space_t space)
{
    MSP_OMP_CALL();
    uintptr_t real = theirs(MSP_OMP_REAL_GET_DEVICES_ALL_ALLOCATOR);

    if (real != 0) {
        return ((all_fn *)real)(space);
    }
    return logged("omp_get_devices_all_allocator", allocator_for(all_space(space)));
}

int omp_get_memspace_num_resources(msp_omp_space_t space)
{
    MSP_OMP_CALL();
    uintptr_t real = theirs(MSP_OMP_REAL_GET_MEMSPACE_NUM_RESOURCES);
    memspan_space_h own;
    size_t count = 0;

    if (real != 0) {
        return ((count_fn *)real)(space);
    }
    if (msp_omp_space_from(space, &own) == MEMSPAN_OK) {
        count = memspan_space_resource_count(own);
    }
    if (count == 0) {
        msp_omp_refused("omp_get_memspace_num_resources");
    }
    return (int)count;
}

size_t omp_get_memspace_pagesize(msp_omp_space_t space)
{
    MSP_OMP_CALL();
    memspan_space_h own;
    size_t size = 0;

    if (msp_omp_space_from(space, &own) == MEMSPAN_OK) {
        size = memspan_space_page_size(own);
    }
    if (size == 0) {
        msp_omp_refused("omp_get_memspace_pagesize");
    }
    return size;
}

static bool find_sub_space(msp_omp_space_t space, int resource_count, const int *resources,
                           msp_omp_space_t *sub_p)
{
    memspan_space_h own;
    memspan_space_h part;

    if ((resource_count <= 0) || (resources == NULL)) {
        memspan_error(MEMSPAN_ERR_INVALID, "num_resources is %d and resources is %s",
                      resource_count, (resources == NULL) ? "NULL" : "not NULL");
        return false;
    }
    if ((msp_omp_space_from(space, &own) != MEMSPAN_OK) ||
        (memspan_space_get_sub(own, resources, (size_t)resource_count, &part) != MEMSPAN_OK)) {
        return false;
    }
    /* All resources of the default space: the caller's own spelling of it, which may be 0. */
    *sub_p = (part == own) ? space : (msp_omp_space_t)part;
    return true;
}

msp_omp_space_t omp_get_submemspace(msp_omp_space_t space, int resource_count, const int *resources)
{
    MSP_OMP_CALL();
    uintptr_t real      = theirs(MSP_OMP_REAL_GET_SUBMEMSPACE);
    msp_omp_space_t sub = 0;

    if (real != 0) {
        return ((part_fn *)real)(space, resource_count, resources);
    }
    if (!find_sub_space(space, resource_count, resources, &sub)) {
        msp_omp_refused("omp_get_submemspace");
    }
    return sub;
}
