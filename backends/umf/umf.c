/* SPDX-License-Identifier: BSD-3-Clause */
/* umf.c: a plug-in backend whose memory comes from a provider of the Unified Memory Framework.
 *
 * It has one device, and its memory is of the kind "coherent": the host must reach the provider's
 * memory. MEMSPAN_UMF_PROVIDER selects the provider: UMF's own for the operating system or for a
 * file, or one that a shared object makes. UMF's headers and library, 1.0 or newer, are needed.
 *
 * Invariant: umf never changes after umf_open(). UMF's providers may be called by several threads.
 */

#include <dlfcn.h>
#include <errno.h>
#include <memspan/backend.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <umf.h>
#include <umf/memory_provider.h>
#include <umf/providers/provider_file_memory.h>
#include <umf/providers/provider_os_memory.h>

#define NAME   "umf"
#define OPTION "MEMSPAN_UMF_PROVIDER"

/* The symbol of a shared object that makes a provider, which umf_close() destroys. */
#define PROVIDER_ENTRY "memspan_umf_provider"
typedef umf_memory_provider_handle_t (*provider_entry_t)(void);

static struct umf {
    const memspan_services_t *services;
    umf_memory_provider_handle_t provider;
    size_t page_bytes;
    const char *name;
} umf;

static memspan_status_t status_of(umf_result_t result)
{
    switch (result) {
    case UMF_RESULT_SUCCESS:
        return MEMSPAN_OK;
    case UMF_RESULT_ERROR_OUT_OF_HOST_MEMORY:
    case UMF_RESULT_ERROR_OUT_OF_RESOURCES:
    case UMF_RESULT_ERROR_MEMORY_PROVIDER_SPECIFIC: /* the providers' own code for no memory */
        return MEMSPAN_ERR_NO_MEMORY;
    case UMF_RESULT_ERROR_NOT_SUPPORTED:
        return MEMSPAN_ERR_UNSUPPORTED;
    default:
        return MEMSPAN_ERR_DRIVER;
    }
}

/* Record that a call of the provider failed. */
static memspan_status_t fail(memspan_status_t status, const char *call, umf_result_t result,
                             size_t size_bytes)
{
    const char *text = "";
    int32_t code     = (int32_t)result;

    if ((result == UMF_RESULT_ERROR_MEMORY_PROVIDER_SPECIFIC) && (umf.provider != NULL)) {
        (void)umfMemoryProviderGetLastNativeError(umf.provider, &text, &code);
    }
    return umf.services->fail(status, NAME, call, code, (text == NULL) ? "" : text, NULL,
                              "UMF's provider fails for %zu bytes", size_bytes);
}

/* ---- the provider ---- */

static umf_result_t make_os(umf_memory_provider_handle_t *provider_p)
{
    umf_os_memory_provider_params_handle_t params = NULL;
    umf_result_t result                           = umfOsMemoryProviderParamsCreate(&params);

    if (result == UMF_RESULT_SUCCESS) {
        result = umfMemoryProviderCreate(umfOsMemoryProviderOps(), params, provider_p);
        (void)umfOsMemoryProviderParamsDestroy(params);
    }
    return result;
}

static umf_result_t make_file(const char *path, umf_memory_provider_handle_t *provider_p)
{
    umf_file_memory_provider_params_handle_t params = NULL;
    umf_result_t result = umfFileMemoryProviderParamsCreate(path, &params);

    if (result == UMF_RESULT_SUCCESS) {
        result = umfMemoryProviderCreate(umfFileMemoryProviderOps(), params, provider_p);
        (void)umfFileMemoryProviderParamsDestroy(params);
    }
    return result;
}

/* The object stays open: its code frees the memory. */
static umf_result_t make_by_object(const char *path, umf_memory_provider_handle_t *provider_p)
{
    void *object           = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol           = (object != NULL) ? dlsym(object, PROVIDER_ENTRY) : NULL;
    provider_entry_t entry = NULL;

    if (symbol == NULL) {
        umf.services->log(MEMSPAN_LOG_WARN, NAME, "%s: %s", path, dlerror());
        return UMF_RESULT_ERROR_DEPENDENCY_UNAVAILABLE;
    }
    memcpy(&entry, &symbol, sizeof(entry));
    *provider_p = entry();
    return (*provider_p != NULL) ? UMF_RESULT_SUCCESS : UMF_RESULT_ERROR_USER_SPECIFIC;
}

static umf_result_t make_provider(const char *which, umf_memory_provider_handle_t *provider_p)
{
    if (strncmp(which, "file:", 5) == 0) {
        return make_file(which + 5, provider_p);
    }
    if (strncmp(which, "object:", 7) == 0) {
        return make_by_object(which + 7, provider_p);
    }
    return make_os(provider_p);
}

static memspan_status_t umf_open(const memspan_services_t *services, void **state_p)
{
    const char *which = services->option(OPTION);
    umf_result_t result;

    umf.services = services;
    if ((strcmp(which, "os") != 0) && (strncmp(which, "file:", 5) != 0) &&
        (strncmp(which, "object:", 7) != 0)) {
        return services->option_refuse(OPTION, "neither os, file:PATH nor object:PATH");
    }
    result = make_provider(which, &umf.provider);
    if (result == UMF_RESULT_SUCCESS) {
        result = umfMemoryProviderGetMinPageSize(umf.provider, NULL, &umf.page_bytes);
    }
    if (result == UMF_RESULT_SUCCESS) {
        result = umfMemoryProviderGetName(umf.provider, &umf.name);
    }
    if (result != UMF_RESULT_SUCCESS) {
        return services->fail(MEMSPAN_ERR_OFF, NAME, "umfMemoryProviderCreate", (long)result, "",
                              "see " OPTION, "UMF has no provider %s", which);
    }
    *state_p = &umf;
    return MEMSPAN_OK;
}

static void umf_close(void *state)
{
    (void)state;
    (void)umfMemoryProviderDestroy(umf.provider);
}

/* ---- the device ---- */

static int umf_device_count(void *state)
{
    (void)state;
    return 1;
}

static memspan_status_t umf_device_describe(void *state, int ordinal, memspan_device_info_t *info_p)
{
    (void)state;
    (void)ordinal;
    snprintf(info_p->name, sizeof(info_p->name), "UMF provider %s", umf.name);
    snprintf(info_p->vendor, sizeof(info_p->vendor), "UMF");
    snprintf(info_p->driver, sizeof(info_p->driver), "UMF, interface %d.%d",
             UMF_MAJOR_VERSION(umfGetCurrentVersion()), UMF_MINOR_VERSION(umfGetCurrentVersion()));
    snprintf(info_p->uid, sizeof(info_p->uid), "umf-%s", umf.name);
    info_p->pci_address[0]  = '\0';
    info_p->numa_node       = -1;
    info_p->capacity_bytes  = MEMSPAN_UNKNOWN;
    info_p->free_bytes      = MEMSPAN_UNKNOWN;
    info_p->alloc_max_bytes = MEMSPAN_UNKNOWN;
    info_p->page_size_bytes = umf.page_bytes;
    info_p->kinds           = 1u << MEMSPAN_KIND_COHERENT;
    info_p->capabilities    = MEMSPAN_CAN_SHARE_ADDRESSES | MEMSPAN_CAN_HOST_ATOMICS;
    for (int kind = 0; kind < MEMSPAN_KIND_COUNT; kind++) {
        snprintf(info_p->kind_note[kind], sizeof(info_p->kind_note[kind]),
                 "a provider's memory is coherent");
    }
    snprintf(info_p->kind_note[MEMSPAN_KIND_COHERENT], sizeof(info_p->kind_note[0]),
             "umfMemoryProviderAlloc of the provider %s", umf.name);
    return MEMSPAN_OK;
}

static memspan_reach_t umf_reach(void *state, int home, memspan_kind_t kind, int from)
{
    (void)state;
    (void)from;
    return ((home == 0) && (kind == MEMSPAN_KIND_COHERENT))
               ? (memspan_reach_t){MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC}
               : (memspan_reach_t){MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
}

/* ---- memory ---- */

static memspan_status_t umf_alloc(void *state, int ordinal, const memspan_request_t *request,
                                  memspan_block_t *block_p)
{
    bool pinned   = (request->flags & MEMSPAN_REQUEST_PINNED) != 0;
    void *address = NULL;
    umf_result_t result;
    int code;

    (void)state;
    (void)ordinal;
    result =
        umfMemoryProviderAlloc(umf.provider, request->size_bytes, request->align_bytes, &address);
    if (result != UMF_RESULT_SUCCESS) {
        return fail(status_of(result), "umfMemoryProviderAlloc", result, request->size_bytes);
    }
    if (pinned && (mlock(address, request->size_bytes) != 0)) {
        code = errno;
        (void)umfMemoryProviderFree(umf.provider, address, request->size_bytes);
        return umf.services->fail(MEMSPAN_ERR_LIMIT, NAME, "mlock", code, strerror(code),
                                  "raise ulimit -l", "cannot pin %zu bytes", request->size_bytes);
    }
    *block_p = (memspan_block_t){.address         = address,
                                 .size_bytes      = request->size_bytes,
                                 .page_size_bytes = umf.page_bytes,
                                 .flags           = pinned ? MEMSPAN_BLOCK_PINNED : 0,
                                 .node            = -1};
    return MEMSPAN_OK;
}

static memspan_status_t umf_free(void *state, int ordinal, const memspan_block_t *block)
{
    umf_result_t result;

    (void)state;
    (void)ordinal;
    if (block->flags & MEMSPAN_BLOCK_PINNED) {
        (void)munlock(block->address, block->size_bytes); /* the provider may keep the pages */
    }
    result = umfMemoryProviderFree(umf.provider, block->address, block->size_bytes);
    return (result == UMF_RESULT_SUCCESS)
               ? MEMSPAN_OK
               : fail(MEMSPAN_ERR_DRIVER, "umfMemoryProviderFree", result, block->size_bytes);
}

/* ---- work: the host reaches the memory, so it is done when the call returns ---- */

static memspan_status_t umf_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                                 size_t size_bytes)
{
    (void)state;
    (void)ordinal;
    (void)queue;
    memcpy(to, from, size_bytes);
    return MEMSPAN_OK;
}

static memspan_status_t umf_fill(void *state, int ordinal, void *queue, void *to,
                                 unsigned char byte, size_t size_bytes)
{
    (void)state;
    (void)ordinal;
    (void)queue;
    memset(to, byte, size_bytes);
    return MEMSPAN_OK;
}

static memspan_status_t umf_synchronize(void *state, int ordinal, void *queue)
{
    (void)state;
    (void)ordinal;
    (void)queue;
    return MEMSPAN_OK;
}

static const memspan_backend_option_t options[] = {
    {"MEMSPAN_UMF_PROVIDER", MEMSPAN_OPTION_SECURE_TEXT, "os|file:PATH|object:PATH", "os",
     "the provider of UMF that the plug-in backend umf takes memory from"},
};

static const memspan_backend_t table = {
    .abi             = MEMSPAN_BACKEND_ABI,
    .struct_size     = sizeof(table),
    .name            = NAME,
    .title           = "A provider of the Unified Memory Framework",
    .open            = umf_open,
    .close           = umf_close,
    .device_count    = umf_device_count,
    .device_describe = umf_device_describe,
    .reach           = umf_reach,
    .alloc           = umf_alloc,
    .free            = umf_free,
    .copy            = umf_copy,
    .fill            = umf_fill,
    .synchronize     = umf_synchronize,
    .options         = options,
    .option_count    = sizeof(options) / sizeof(options[0]),
};

MEMSPAN_API const memspan_backend_t *memspan_backend_entry(void);

MEMSPAN_API const memspan_backend_t *memspan_backend_entry(void)
{
    return &table;
}
