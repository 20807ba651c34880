/* SPDX-License-Identifier: BSD-3-Clause */
/* umf.c: <memspan/umf.h> in a program of UMF, as memspan-beside(7) has it. The first device shares
 * memory (MEMSPAN_DEVICES=emu:1). With an argument: the process that opens shared memory. */

#include <memspan/memspan.h>
#include <memspan/umf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <umf.h>
#include <umf/ipc.h>
#include <umf/memory_pool.h>
#include <umf/memory_provider.h>
#include <umf/pools/pool_proxy.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s  [%s]\n", __FILE__, __LINE__, #condition,                   \
                    memspan_error_text());                                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define OK(call) CHECK((call) == UMF_RESULT_SUCCESS)

enum { LIMIT_BYTES = 1 << 20 };

static memspan_allocator_h limited(void)
{
    const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_POOL_SIZE, LIMIT_BYTES},
                                      {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h allocator;

    CHECK(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &allocator) == MEMSPAN_OK);
    return allocator;
}

static memspan_allocator_h owner(const void *pointer)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};

    CHECK(memspan_pointer_describe(pointer, &info) == MEMSPAN_OK);
    return info.allocator;
}

/* UMF's pool over our provider: UMF finds its blocks by address. */
static void check_provider(memspan_allocator_h allocator)
{
    umf_memory_provider_ops_t ops = memspan_umf_provider_ops();
    umf_memory_provider_handle_t provider;
    umf_memory_pool_handle_t pool;
    const char *text = NULL;
    void *memory     = NULL;
    int32_t code     = 0;
    size_t page      = 0;
    char *block;

    OK(umfMemoryProviderCreate(&ops, allocator, &provider));
    OK(umfPoolCreate(umfProxyPoolOps(), provider, NULL, 0, &pool));
    block = umfPoolMalloc(pool, 1000);
    CHECK((block != NULL) && (owner(block) == allocator));
    OK(umfFree(block));

    OK(umfMemoryProviderGetMinPageSize(provider, NULL, &page));
    CHECK((page >= 4096) && ((page & (page - 1)) == 0));
    OK(umfMemoryProviderAlloc(provider, page, 4 * page, &memory));
    CHECK((uintptr_t)memory % (4 * page) == 0);
    OK(umfMemoryProviderFree(provider, memory, page));
    CHECK(umfMemoryProviderAlloc(provider, (size_t)2 * LIMIT_BYTES, 0, &memory) ==
          UMF_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(umfMemoryProviderAlloc(provider, page, 3 * page, &memory) ==
          UMF_RESULT_ERROR_INVALID_ALIGNMENT);
    CHECK(umfMemoryProviderFree(provider, &page, page) == UMF_RESULT_ERROR_INVALID_ARGUMENT);
    OK(umfMemoryProviderGetLastNativeError(provider, &text, &code));
    CHECK((code == MEMSPAN_ERR_NOT_FOUND) && (text[0] != '\0'));
    CHECK(umfMemoryProviderGetIPCHandleSize(provider, &page) == UMF_RESULT_ERROR_NOT_SUPPORTED);
    (void)umfPoolDestroy(pool);
    (void)umfMemoryProviderDestroy(provider);
}

/* Our pool: each block is a block of the allocator. */
static void check_pool(memspan_allocator_h allocator)
{
    umf_memory_provider_ops_t provider_ops = memspan_umf_provider_ops();
    umf_memory_pool_ops_t ops              = memspan_umf_pool_ops();
    umf_memory_provider_handle_t provider;
    umf_memory_pool_handle_t pool;
    char *block;

    OK(umfMemoryProviderCreate(&provider_ops, NULL, &provider));
    OK(umfPoolCreate(&ops, provider, allocator, 0, &pool));
    block = umfPoolCalloc(pool, 10, 10);
    CHECK((block != NULL) && (block[99] == 0) && (owner(block) == allocator));
    block = umfPoolRealloc(pool, block, 5000);
    CHECK((block != NULL) && (block[99] == 0) && (owner(block) == allocator));
    OK(umfPoolFree(pool, block));
    block = umfPoolAlignedMalloc(pool, 10, 256);
    CHECK((block != NULL) && ((uintptr_t)block % 256 == 0));
    OK(umfPoolFree(pool, block));
    CHECK(umfPoolMalloc(pool, (size_t)2 * LIMIT_BYTES) == NULL);
    CHECK(umfPoolGetLastAllocationError(pool) == UMF_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    (void)umfPoolDestroy(pool);
    (void)umfMemoryProviderDestroy(provider);
}

/* ---- memory of another process, by UMF's handle; on a device that can share ---- */

static umf_memory_pool_handle_t make_shared_pool(umf_memory_provider_handle_t *provider_p)
{
    const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_SHAREABLE, MEMSPAN_VALUE_TRUE}};
    umf_memory_provider_ops_t ops  = memspan_umf_provider_ops();
    umf_memory_pool_handle_t pool;
    memspan_allocator_h allocator;
    memspan_space_h space;
    int device;

    CHECK(memspan_device_at(0, &device) == MEMSPAN_OK);
    CHECK(memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK);
    CHECK(memspan_allocator_create(space, traits, 1, &allocator) == MEMSPAN_OK);
    OK(umfMemoryProviderCreate(&ops, allocator, provider_p));
    OK(umfPoolCreate(umfProxyPoolOps(), *provider_p, NULL, 0, &pool));
    return pool;
}

/* The other process: opens the handle of the file. */
static int open_shared(const char *file)
{
    umf_memory_provider_handle_t provider;
    umf_memory_pool_handle_t pool = make_shared_pool(&provider);
    umf_ipc_handler_handle_t handler;
    static char handle[65536];
    char text[8] = "";
    void *memory;
    FILE *in = fopen(file, "r");

    CHECK((in != NULL) && (fread(handle, 1, sizeof(handle), in) > 0));
    (void)fclose(in);
    OK(umfPoolGetIPCHandler(pool, &handler));
    OK(umfOpenIPCHandle(handler, (umf_ipc_handle_t)(void *)handle, &memory));
    CHECK(memspan_copy(text, memory, sizeof(text)) == MEMSPAN_OK);
    CHECK(strcmp(text, "shared") == 0);
    OK(umfCloseIPCHandle(memory));
    (void)umfPoolDestroy(pool);
    (void)umfMemoryProviderDestroy(provider);
    return 0;
}

static void check_shared(const char *program)
{
    umf_memory_provider_handle_t provider;
    umf_memory_pool_handle_t pool = make_shared_pool(&provider);
    void *memory                  = umfPoolMalloc(pool, 4096);
    char file[]                   = "/tmp/memspan-umf-XXXXXX";
    umf_ipc_handle_t handle;
    char command[4096];
    size_t size;
    int descriptor = mkstemp(file);

    CHECK((memory != NULL) && (descriptor >= 0));
    CHECK(memspan_copy(memory, "shared", 7) == MEMSPAN_OK);
    OK(umfGetIPCHandle(memory, &handle, &size));
    CHECK(write(descriptor, handle, size) == (ssize_t)size);
    (void)close(descriptor);
    snprintf(command, sizeof(command), "'%s' %s", program, file);
    CHECK(system(command) == 0);
    (void)unlink(file);
    OK(umfPutIPCHandle(handle));
    OK(umfPoolFree(pool, memory));
    (void)umfPoolDestroy(pool);
    (void)umfMemoryProviderDestroy(provider);
}

int main(int argc, char **argv)
{
    umf_memory_provider_ops_t ops = memspan_umf_provider_ops();
    umf_memory_provider_handle_t provider;
    memspan_allocator_h allocator;

    if (argc > 1) {
        return open_shared(argv[1]);
    }
    allocator = limited();
    check_provider(allocator);
    check_pool(allocator);
    check_shared(argv[0]);
    CHECK(memspan_allocator_destroy(allocator) == MEMSPAN_OK);
    CHECK(umfMemoryProviderCreate(&ops, allocator, &provider) == UMF_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(memspan_check() == MEMSPAN_OK);
    puts("passed");
    return 0;
}
