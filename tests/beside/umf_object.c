/* SPDX-License-Identifier: BSD-3-Clause */
/* umf_object.c: a shared object for MEMSPAN_UMF_PROVIDER=object:FILE, with a provider of UMF. */

#include <umf/memory_provider.h>
#include <umf/providers/provider_os_memory.h>

umf_memory_provider_handle_t memspan_umf_provider(void);

umf_memory_provider_handle_t memspan_umf_provider(void)
{
    umf_os_memory_provider_params_handle_t params = NULL;
    umf_memory_provider_handle_t provider         = NULL;

    if (umfOsMemoryProviderParamsCreate(&params) == UMF_RESULT_SUCCESS) {
        (void)umfMemoryProviderCreate(umfOsMemoryProviderOps(), params, &provider);
        (void)umfOsMemoryProviderParamsDestroy(params);
    }
    return provider;
}
