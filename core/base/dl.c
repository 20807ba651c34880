/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/dl.h"
#include "core/base/error.h"
#include "core/base/object.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static memspan_status_t fill_calls(const char *backend, void *handle, const char *soname,
                                   const struct msp_dl_symbol *symbols, size_t symbol_count,
                                   void *calls)
{
    size_t i;

    for (i = 0; i < symbol_count; i++) {
        void *address = dlsym(handle, symbols[i].name);
        if ((address == NULL) && (symbols[i].fallback_name != NULL)) {
            address = dlsym(handle, symbols[i].fallback_name);
        }
        if ((address == NULL) && !symbols[i].optional) {
            return msp_error_native(MEMSPAN_ERR_OFF, backend, "dlsym", 0, dlerror(),
                                    "install a newer version of the driver", "%s has no %s", soname,
                                    symbols[i].name);
        }
        memcpy((char *)calls + symbols[i].offset, &address, sizeof(address));
    }
    return MEMSPAN_OK;
}

memspan_status_t msp_dl_open(const char *backend, const char *const *sonames,
                             const struct msp_dl_symbol *symbols, size_t symbol_count, void *calls,
                             void **handle_p)
{
    memspan_status_t status;
    char reason[128] = "";
    void *handle     = NULL;
    size_t i;

    for (i = 0; (handle == NULL) && (sonames[i] != NULL); i++) {
        handle = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL);
        if ((handle == NULL) && (i == 0)) {
            snprintf(reason, sizeof(reason), "%s", dlerror());
        }
    }
    if (handle == NULL) {
        return msp_error_native(MEMSPAN_ERR_OFF, backend, "dlopen", 0, reason, NULL,
                                "library not found: %s", sonames[0]);
    }
    status = fill_calls(backend, handle, sonames[i - 1], symbols, symbol_count, calls);
    if (status != MEMSPAN_OK) {
        dlclose(handle);
        return status;
    }
    *handle_p = handle;
    return MEMSPAN_OK;
}

void *msp_dl_next(const char *name)
{
    return (void *)msp_object_next(name);
}
