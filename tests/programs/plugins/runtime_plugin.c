/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in of one compiler. Its runtime is the one that makes its teams: that of the routine
 * TEAM_MAKER, which is the plug-in's own unless another one is visible everywhere. It returns what
 * is wrong, or NULL. */
#include <dlfcn.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

static char wrong[160];
static void *runtime;
static const char *runtime_name;

__attribute__((visibility("default"))) const char *plugin_set(int allocator);
__attribute__((visibility("default"))) const char *plugin_again(int allocator);
__attribute__((visibility("default"))) const char *plugin_check(int allocator);
__attribute__((visibility("default"))) const char *plugin_offload(void);
__attribute__((visibility("default"))) const char *plugin_runtime(void);

/* The path of the runtime; NULL: there is none. Asked while the calls are unbound, or before
 * another is opened. */
const char *plugin_runtime(void)
{
    Dl_info info;

    if (dladdr(dlsym(RTLD_DEFAULT, TEAM_MAKER), &info) != 0) {
        runtime_name = info.dli_fname;
        runtime      = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }
    return runtime_name;
}

/* The default allocator becomes @p allocator. */
const char *plugin_set(int allocator)
{
    void *p;

    omp_set_default_allocator((omp_allocator_handle_t)allocator);
    p = omp_alloc(1000, omp_null_allocator);
    if (p == NULL) {
        return "no memory of the default allocator";
    }
    omp_free(p, omp_null_allocator);
    return NULL;
}

/* The same by another call. */
const char *plugin_again(int allocator)
{
    omp_set_default_allocator((omp_allocator_handle_t)allocator);
    return NULL;
}

/* It still is, for this library, for its runtime and for the teams that the runtime makes. */
const char *plugin_check(int allocator)
{
    int others = 0;
    omp_allocator_handle_t (*get)(void);

    get = (omp_allocator_handle_t(*)(void))(uintptr_t)dlsym(runtime, "omp_get_default_allocator");
    if ((int)get() != allocator) {
        snprintf(wrong, sizeof(wrong), "%s has default allocator %d, not %d", runtime_name,
                 (int)get(), allocator);
        return wrong;
    }
    if ((int)omp_get_default_allocator() != allocator) {
        snprintf(wrong, sizeof(wrong), "omp_get_default_allocator() is %d, not %d",
                 (int)omp_get_default_allocator(), allocator);
        return wrong;
    }
#pragma omp parallel num_threads(4) reduction(+ : others)
    others += ((int)omp_get_default_allocator() != allocator);
    return (others == 0) ? NULL : "a team has not inherited the default allocator";
}

const char *plugin_offload(void)
{
#ifdef HAS_DEVICES
    int on_host = 1;
    int *p;

    if (omp_get_num_devices() < 1) {
        return "no devices";
    }
#pragma omp target map(from : on_host) device(0)
    on_host = omp_is_initial_device();
    if (on_host) {
        return "the target region ran on the host";
    }
    p = omp_target_alloc(sizeof(int), 0);
    if (p == NULL) {
        return "no device memory";
    }
#pragma omp target is_device_ptr(p) device(0)
    *p = 42;
    if ((omp_target_memcpy(&on_host, p, sizeof(int), 0, 0, omp_get_initial_device(), 0) != 0) ||
        (on_host != 42)) {
        return "device memory was not copied";
    }
    omp_target_free(p, 0);
    return NULL;
#else
    int (*count)(void) = (int (*)(void))(uintptr_t)dlsym(runtime, "omp_get_num_devices");

    return (omp_get_num_devices() == count()) ? NULL : "devices of another runtime";
#endif
}
