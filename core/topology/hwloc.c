/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc.c: the pointers behind hwloc's names, found in its library. */

#include "core/topology/hwloc.h"
#include "core/base/process.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

_Static_assert((HWLOC_API_VERSION >> 16) == 2, "libhwloc.so.15 is that of version 2");

enum { VERSION_MIN = 0x20500 }; /* 2.5: values of the HMAT for each initiator */

static const char soname[] = "libhwloc.so.15";

#define POINTER(name) __typeof__(msp_hwloc_##name) msp_hwloc_##name;
MSP_HWLOC_MAP(POINTER)
#undef POINTER

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_open;
static char problem[256];

static bool find(void *handle, const char *name, void *pointer)
{
    void *address = dlsym(handle, name);

    if (address == NULL) {
        snprintf(problem, sizeof(problem), "%s has no function %s", soname, name);
        return false;
    }
    memcpy(pointer, &address, sizeof(address));
    return true;
}

static bool check_version(void)
{
    unsigned version = hwloc_get_api_version();

    if ((version >= VERSION_MIN) && ((version >> 16) == (HWLOC_API_VERSION >> 16))) {
        return true;
    }
    snprintf(problem, sizeof(problem), "%s is hwloc %u.%u: 2.5 or a later 2 is needed", soname,
             version >> 16, (version >> 8) & 0xff);
    return false;
}

/* The version first: the same name may mean another function in another. Each call has the offset
 * of its pointer; a table of them would be relocated in every process, hwloc or not. */
static bool find_all(void *handle)
{
#define AND_FIND(name) &&find(handle, "hwloc_" #name, &msp_hwloc_##name)
    return find(handle, "hwloc_get_api_version", &msp_hwloc_get_api_version) &&
           check_version() MSP_HWLOC_MAP(AND_FIND);
#undef AND_FIND
}

static void open_once(void)
{
    void *handle;

    /* hwloc loads plug-ins from HWLOC_PLUGINS_PATH, in processes with any rights. */
    if (!msp_environment_is_trusted()) {
        snprintf(problem, sizeof(problem), "hwloc is not opened: %s", MSP_UNTRUSTED_REASON);
        return;
    }
    handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        snprintf(problem, sizeof(problem), "hwloc cannot be opened: %s", dlerror());
        return;
    }
    is_open = find_all(handle);
    if (!is_open) {
        dlclose(handle);
    }
}

bool msp_hwloc_open(void)
{
    pthread_once(&once, open_once);
    return is_open;
}

const char *msp_hwloc_problem(void)
{
    pthread_once(&once, open_once);
    return problem;
}
