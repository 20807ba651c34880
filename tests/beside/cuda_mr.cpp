/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_mr.cpp: <memspan/cuda_mr.hpp> against CCCL's concepts, and RMM's class where its headers
 * are.
 *
 * The memory is the device's of the environment. The wait for a stream is replaced: `waits` counts
 * it, and `refuse` makes it fail. The driver's streams are queues; 0x40 is none. */

#include <memspan/cuda_mr.hpp>

#if __has_include(<rmm/resource_ref.hpp>)
#include <rmm/resource_ref.hpp>
#endif

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

using memspan::device_resource;
using memspan::host_device_resource;

#if CCCL_VERSION >= 3001000
static_assert(cuda::mr::synchronous_resource<device_resource>);
static_assert(cuda::mr::resource<device_resource>);
static_assert(cuda::mr::resource_with<device_resource, cuda::mr::device_accessible>);
static_assert(!cuda::mr::resource_with<device_resource, cuda::mr::host_accessible>);
static_assert(cuda::mr::resource_with<host_device_resource, cuda::mr::device_accessible,
                                      cuda::mr::host_accessible>);
using device_ref = cuda::mr::resource_ref<cuda::mr::device_accessible>;
#else
static_assert(cuda::mr::async_resource<device_resource>);
static_assert(cuda::mr::async_resource_with<device_resource, cuda::mr::device_accessible>);
static_assert(!cuda::mr::async_resource_with<device_resource, cuda::mr::host_accessible>);
static_assert(cuda::mr::async_resource_with<host_device_resource, cuda::mr::device_accessible,
                                            cuda::mr::host_accessible>);
using device_ref = cuda::mr::async_resource_ref<cuda::mr::device_accessible>;
#endif

static int waits;
static bool refuse;

/* Of the CUDA runtime. */
extern "C" cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    waits++;
    return refuse ? cudaErrorUnknown : cudaSuccess;
}

/* Of RMM's own code. */
extern "C" cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

extern "C" const char *cudaGetErrorString(cudaError_t)
{
    return "an error";
}

extern "C" const char *cudaGetErrorName(cudaError_t)
{
    return "cudaErrorUnknown";
}

static std::size_t live(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t stats = {};

    stats.struct_size = sizeof(stats);
    CHECK(memspan_allocator_get_stats(allocator, &stats) == MEMSPAN_OK);
    return stats.live_count;
}

/* By the reference through which libraries call a resource. */
static void check_stream(memspan_allocator_h allocator, device_ref ref)
{
    cudaStream_t native = reinterpret_cast<cudaStream_t>(0x40);
    cuda::stream_ref stream(native);

#if CCCL_VERSION >= 3001000
    void *memory = ref.allocate(stream, 1000, 512);
#else
    void *memory = ref.allocate_async(1000, 512, stream);
#endif
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 512 == 0);
    CHECK(memspan_pointer_kind(memory) != MEMSPAN_KIND_NONE);
    CHECK(live(allocator) == 1 && waits == 0);
#if CCCL_VERSION >= 3001000
    ref.deallocate(stream, memory, 1000, 512);
#else
    ref.deallocate_async(memory, 1000, 512, stream);
#endif
    CHECK(live(allocator) == 0 && waits == 1);
}

/* Streams of the driver: the deallocation does not wait, and the next block is the same one. One
 * that has ended since leaves its memory to others. */
static void check_queues(memspan_allocator_h allocator)
{
    device_resource resource{memspan::handle(allocator), MEMSPAN_QUEUE_LASTING};
    device_resource ending{memspan::handle(allocator)};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*retain)(void **, int);
    int (*push)(void *);
    int (*create)(cudaStream_t *, unsigned);
    int (*synchronize)(cudaStream_t);
    int (*destroy)(cudaStream_t);
    int (*calls)(const char *);
    cudaStream_t streams[2] = {};
    void *context           = nullptr;
    int before;

    *reinterpret_cast<void **>(&retain)      = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *reinterpret_cast<void **>(&push)        = dlsym(driver, "cuCtxPushCurrent_v2");
    *reinterpret_cast<void **>(&create)      = dlsym(driver, "cuStreamCreate");
    *reinterpret_cast<void **>(&calls)       = dlsym(driver, "fake_gpu_calls");
    *reinterpret_cast<void **>(&synchronize) = dlsym(driver, "cuStreamSynchronize");
    *reinterpret_cast<void **>(&destroy)     = dlsym(driver, "cuStreamDestroy_v2");
    CHECK(retain(&context, 0) == 0 && push(context) == 0 && create(&streams[1], 1) == 0);
    waits = 0;
    for (cudaStream_t native : streams) { /* the legacy default stream first */
        cuda::stream_ref stream(native);
        void *memory = resource.allocate_async(1 << 20, 256, stream);
        resource.deallocate_async(memory, 1 << 20, 256, stream);
        before = (calls == nullptr) ? 0 : calls(nullptr);
        for (int i = 0; i < 1000; i++) {
            CHECK(resource.allocate_async(1 << 20, 256, stream) == memory);
            resource.deallocate_async(memory, 1 << 20, 256, stream);
        }
        CHECK(calls == nullptr || calls(nullptr) == before);
        memspan::stream_ends(allocator, native);
    }
    void *memory = ending.allocate_async(1 << 20, 256, cuda::stream_ref(streams[1]));
    ending.deallocate_async(memory, 1 << 20, 256, cuda::stream_ref(streams[1]));
    CHECK(synchronize(streams[1]) == 0 && destroy(streams[1]) == 0);
    CHECK(ending.allocate_async(1 << 20, 256, cuda::stream_ref(streams[0])) == memory);
    ending.deallocate_async(memory, 1 << 20, 256, cuda::stream_ref(streams[0]));
    CHECK(waits == 0 && live(allocator) == 0);
}

/* The wait fails: the block stays. */
static void check_refused(memspan_allocator_h allocator)
{
    device_resource resource{memspan::handle(allocator)};
    void *memory = resource.allocate(64, 16);

    refuse = true;
    resource.deallocate_async(memory, 64, 16,
                              cuda::stream_ref(reinterpret_cast<cudaStream_t>(0x40)));
    refuse = false;
    CHECK(live(allocator) == 1);
    resource.deallocate(memory, 64, 16);
    CHECK(live(allocator) == 0);
}

template <class Resource> static bool refuses(memspan::handle from)
{
    try {
        Resource resource(from);
    } catch (const std::logic_error &) {
        return true;
    }
    return false;
}

int main()
{
    int device;

    if (memspan_device_count() == 0 || memspan_device_at(0, &device) != MEMSPAN_OK) {
        std::puts("skip: there is no device");
        return 77;
    }
    memspan::unique_allocator of_device({device});
    memspan::unique_allocator of_both({device, MEMSPAN_HOST});
    device_resource resource{of_device};

    check_stream(of_device.get(), resource);
    check_refused(of_device.get());
    check_queues(of_device.get());
    CHECK(resource == device_resource{of_device} && resource != device_resource{of_both});
    CHECK(refuses<device_resource>(MEMSPAN_ALLOCATOR_DEFAULT));
    CHECK(!refuses<host_device_resource>(of_both));
    memspan_reach_t reach;
    CHECK(memspan_allocator_reach(of_device.get(), MEMSPAN_HOST, &reach) == MEMSPAN_OK);
    CHECK(refuses<host_device_resource>(of_device) == (reach.access < MEMSPAN_ACCESS_FAULT));

#if __has_include(<rmm/resource_ref.hpp>)
    static_assert(std::is_constructible_v<rmm::device_async_resource_ref, device_resource &>);
#endif
#ifdef MEMSPAN_HAS_RMM_RESOURCE
    memspan::rmm_resource of_rmm(of_device);
    rmm::mr::device_memory_resource *base = &of_rmm;
    int before                            = waits;
#if CCCL_VERSION >= 3001000
    void *memory = base->allocate(rmm::cuda_stream_view(), 100);
    base->deallocate(rmm::cuda_stream_view(), memory, 100);
#else
    void *memory = base->allocate(100);
    base->deallocate(memory, 100);
#endif

    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0);
    CHECK(waits == before && live(of_device.get()) == 0);
    CHECK(base->is_equal(memspan::rmm_resource(of_device)));
    std::puts("rmm_resource: passed");
#endif
    std::printf("CCCL %d: passed on %d\n", CCCL_VERSION, device);
    return 0;
}
