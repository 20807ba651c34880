/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime.c: find the OpenMP offload runtime behind us.
 *
 * This library defines names of the runtime (omp_target_alloc, omp_get_num_devices ...), and so
 * does libomp, which answers some of them by calling the first object in lookup order: us. So one
 * name finds the object that really has the devices, and every call is taken from that object
 * alone. A program without offloading has no such object, or one without devices; nothing is loaded
 * to change that, because device code is made when a program is built. */

#include "backends/openmp/openmp.h"
#include "core/base/dl.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char build_hint[] =
    "build the program with offloading, e.g. clang -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu";

struct openmp_call {
    const char *symbol;
    size_t offset;
    bool optional;
};

static const struct openmp_call call_list[] = {
#define OPENMP_CALL_ROW(type, member, symbol, arguments, optional)                                 \
    {symbol, offsetof(struct openmp_calls, member), optional},
    OPENMP_CALL_MAP(OPENMP_CALL_ROW)
#undef OPENMP_CALL_ROW
};

/* The names to look for, the surest first: LLVM's offload runtime alone has the first one, also
 * where libgomp is in the process too. */
static const char *const marks[] = {"llvm_omp_target_alloc_shared", "omp_target_alloc"};

static bool find_object(Dl_info *object_p)
{
    size_t i;

    for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        const void *address = msp_dl_next(marks[i]);

        if ((address != NULL) && (dladdr(address, object_p) != 0) &&
            (object_p->dli_fname != NULL)) {
            return true;
        }
    }
    return false;
}

/* The object's own definition; a definition of its dependencies is another's answer. */
static void *own_symbol(void *library, const void *base, const char *name)
{
    void *address = dlsym(library, name);
    Dl_info info;

    if ((address == NULL) || (dladdr(address, &info) == 0) || (info.dli_fbase != base)) {
        return NULL;
    }
    return address;
}

static memspan_status_t fill_calls(struct openmp *openmp, const void *base)
{
    size_t i;

    for (i = 0; i < sizeof(call_list) / sizeof(call_list[0]); i++) {
        void *address = own_symbol(openmp->library, base, call_list[i].symbol);

        if ((address == NULL) && !call_list[i].optional) {
            return openmp->services->fail(MEMSPAN_ERR_OFF, "openmp", "dlsym", 0, "",
                                          "use a newer OpenMP runtime", "%s has no %s",
                                          openmp->runtime, call_list[i].symbol);
        }
        memcpy((char *)&openmp->calls + call_list[i].offset, &address, sizeof(address));
    }
    return MEMSPAN_OK;
}

/* Kinds need both of a pair. */
static void drop_halves(struct openmp_calls *calls)
{
    if ((calls->alloc_host == NULL) || (calls->free_host == NULL)) {
        calls->alloc_host = NULL;
    }
    if ((calls->alloc_shared == NULL) || (calls->free_shared == NULL)) {
        calls->alloc_shared = NULL;
    }
    if ((calls->lock == NULL) || (calls->unlock == NULL)) {
        calls->lock = NULL;
    }
}

/* libomptarget keeps its devices in an object that exists while a program with device code is
 * registered, and from release 19 on does not look before it uses it: in a process that only has
 * the library loaded, counting devices is a null pointer. Registering no device code makes the
 * object for as long as it takes to count; for a program with device code it is one reference more.
 */
static int count_devices(const struct openmp_calls *calls)
{
    struct {
        int32_t image_count;
        const void *images;
        const void *entries_begin;
        const void *entries_end;
    } nothing = {.image_count = 0};
    bool both = (calls->register_lib != NULL) && (calls->unregister_lib != NULL);
    int count;

    if (both) {
        calls->register_lib(&nothing);
    }
    count = calls->get_num_devices();
    if (both) {
        calls->unregister_lib(&nothing);
    }
    return count;
}

memspan_status_t openmp_runtime_find(struct openmp *openmp)
{
    const char *file;
    memspan_status_t status;
    Dl_info object;

    if (!find_object(&object)) {
        return openmp->services->fail(MEMSPAN_ERR_OFF, "openmp", "", 0, "", build_hint,
                                      "no OpenMP offload runtime in this process");
    }
    file = strrchr(object.dli_fname, '/');
    file = (file == NULL) ? object.dli_fname : file + 1;
    snprintf(openmp->runtime, sizeof(openmp->runtime), "%s", file);

    openmp->library = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (openmp->library == NULL) {
        return openmp->services->fail(MEMSPAN_ERR_OFF, "openmp", "dlopen", 0, dlerror(),
                                      "link the OpenMP runtime as a shared library",
                                      "the OpenMP runtime is part of %s, where its calls cannot be "
                                      "told from ours",
                                      openmp->runtime);
    }
    status = fill_calls(openmp, object.dli_fbase);
    if (status != MEMSPAN_OK) {
        goto err_close_library;
    }
    drop_halves(&openmp->calls);
    openmp->count = count_devices(&openmp->calls);
    if (openmp->count <= 0) {
        status = openmp->services->fail(MEMSPAN_ERR_OFF, "openmp", "omp_get_num_devices",
                                        openmp->count, "", build_hint,
                                        "the OpenMP runtime (%s) has no devices", openmp->runtime);
        goto err_close_library;
    }
    /* OpenMP 5.1 and later, and every runtime before: the host's number is the number of devices.
     * Asking would come back to our own definition. */
    openmp->host = openmp->count;
    return MEMSPAN_OK;

err_close_library:
    dlclose(openmp->library);
    return status;
}
