/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CUDA_MR_HPP
#define MEMSPAN_CUDA_MR_HPP

/* Without it releases of CCCL before 3.1 hide their memory resources. */
#ifndef LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE
#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE
#endif
#include <cuda/memory_resource>
#include <cuda/stream_ref>
#include <cuda_runtime_api.h>

#include <memspan/memspan.hpp>

#include <cstring>

#if __has_include(<rmm/mr/device_memory_resource.hpp>)
#include <rmm/error.hpp>
#include <rmm/mr/device_memory_resource.hpp>
#define MEMSPAN_HAS_RMM_RESOURCE
#elif __has_include(<rmm/mr/device/device_memory_resource.hpp>)
#include <rmm/error.hpp>
#include <rmm/mr/device/device_memory_resource.hpp>
#define MEMSPAN_HAS_RMM_RESOURCE
#endif

/** @file cuda_mr.hpp
 * An allocator as a memory resource of CCCL (cuda::mr) and of RMM. Header only, C++17; it needs
 * CCCL's headers and those of the CUDA runtime. memspan-beside(7) has an example.
 *
 *   memspan::cuda_resource<Properties...>  models the concepts of cuda::mr of CCCL 2.8 and newer:
 *                                          resource and async_resource, or synchronous_resource and
 *                                          resource. RMM from 26.06 takes it as it is.
 *   memspan::rmm_resource                  is an rmm::mr::device_memory_resource, where RMM has it
 *
 * Streams: a stream is a queue of the resource's device (memspan_queue_get()). Allocations and
 * deallocations in its order are memspan_alloc_on() and memspan_free_on(): none waits for the
 * stream, and memory that was freed on a stream serves it again. A deallocation records an event,
 * so that the stream may end, once its work is complete. A resource that is made with
 * MEMSPAN_QUEUE_LASTING calls no driver there: the program passes a stream to
 * memspan::stream_ends() before it destroys it. A stream that is no queue, as the default stream of
 * each thread, is waited for at the deallocation; where the wait fails, the block stays allocated,
 * as work may use it. The calls without a stream give memory for every stream at once, and do not
 * wait: the work must have ended.
 *
 * Ownership: a resource holds a handle by value; the allocator must outlive it.
 *
 * Errors: allocations throw std::bad_alloc (rmm_resource: rmm::out_of_memory or rmm::bad_alloc);
 * memspan_error_text() has the details. Deallocations do not throw.
 *
 * Threads: as memspan_alloc(). */

namespace memspan
{

namespace detail
{

inline void *take_some(memspan_allocator_h allocator, std::size_t size_bytes,
                       std::size_t align_bytes)
{
    return take(allocator, (size_bytes == 0) ? 1 : size_bytes, align_bytes);
}

/* The first device of CUDA, or of HIP, that reaches the memory; MEMSPAN_HOST: none. */
inline int find_device(memspan_allocator_h allocator, memspan_queue_type_t *type_p = nullptr)
{
    for (int i = 0; i < memspan_device_count(); i++) {
        memspan_device_info_t info = {};
        memspan_reach_t reach      = {};
        int device;

        info.struct_size = sizeof(info);
        if (memspan_device_at(i, &device) == MEMSPAN_OK &&
            memspan_device_describe(device, &info) == MEMSPAN_OK &&
            (std::strcmp(info.backend, "cuda") == 0 || std::strcmp(info.backend, "hip") == 0) &&
            memspan_allocator_reach(allocator, device, &reach) == MEMSPAN_OK &&
            reach.access >= MEMSPAN_ACCESS_FAULT) {
            if (type_p != nullptr) {
                *type_p = (info.backend[0] == 'c') ? MEMSPAN_QUEUE_CUDA : MEMSPAN_QUEUE_HIP;
            }
            return device;
        }
    }
    return MEMSPAN_HOST;
}

/* The allocator and each fallback behind it. */
inline memspan_allocator_h require_device(handle from)
{
    for (memspan_allocator_h at = require_some(from); at != MEMSPAN_ALLOCATOR_NULL;) {
        memspan_allocator_info_t info = describe(at);

        if (find_device(at) == MEMSPAN_HOST) {
            throw std::logic_error(std::string("memspan: no device of CUDA reaches this ") +
                                   memspan_kind_name(info.kind_given) + " memory");
        }
        at = info.fallback;
    }
    return from.get();
}

/* The streams of a resource: queues of a device of CUDA or HIP. */
class streams
{
  public:
    streams(memspan_allocator_h allocator, unsigned flags)
        : device_(find_device(allocator, &type_)), flags_(flags)
    {
    }

    /* MEMSPAN_QUEUE_NULL: the stream is no queue. */
    memspan_queue_h get(cudaStream_t stream) const noexcept
    {
        memspan_queue_h queue = MEMSPAN_QUEUE_NULL;

        if (device_ != MEMSPAN_HOST) {
            (void)memspan_queue_get(device_, type_, stream, flags_, &queue);
        }
        return queue;
    }

    void *take(memspan_allocator_h allocator, std::size_t size_bytes, std::size_t align_bytes,
               cudaStream_t stream) const
    {
        constexpr std::size_t align_promised_bytes = 256; /* by memspan_alloc_on() */
        memspan_queue_h queue =
            (align_bytes > align_promised_bytes) ? MEMSPAN_QUEUE_NULL : get(stream);
        void *memory = nullptr;

        if (queue == MEMSPAN_QUEUE_NULL) {
            return take_some(allocator, size_bytes, align_bytes);
        }
        memory = memspan_alloc_on(allocator, (size_bytes == 0) ? 1 : size_bytes, queue);
        if (memory == nullptr) {
            throw bad_alloc();
        }
        return memory;
    }

    /* cuda::stream_ref::wait() of CCCL before 3.1 does nothing without a CUDA compiler. */
    void free(void *memory, cudaStream_t stream) const noexcept
    {
        memspan_queue_h queue = get(stream);

        if ((queue == MEMSPAN_QUEUE_NULL || memspan_free_on(memory, queue) != MEMSPAN_OK) &&
            ::cudaStreamSynchronize(stream) == ::cudaSuccess) {
            memspan_free(memory);
        }
    }

  private:
    memspan_queue_type_t type_ = MEMSPAN_QUEUE_CUDA;
    int device_;
    unsigned flags_;
};

template <class T, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);

} // namespace detail

/** A stream that was passed to a lasting resource over @p allocator is about to be destroyed: waits
 * for its work, and the memory that was freed on it goes back to its pools. */
inline void stream_ends(memspan_allocator_h allocator, cudaStream_t stream) noexcept
{
    (void)memspan_queue_close(detail::streams(allocator, MEMSPAN_QUEUE_LASTING).get(stream));
}

/** An allocator as a resource of CCCL. @p Properties: cuda::mr::device_accessible,
 * cuda::mr::host_accessible, or both. */
template <class... Properties> class cuda_resource
{
    static_assert(detail::is_one_of<cuda::mr::device_accessible, Properties...> ||
                      detail::is_one_of<cuda::mr::host_accessible, Properties...>,
                  "memspan: a resource is accessible from the device, the host, or both");

  public:
    /** Checks the properties, for the allocator and its fallbacks: throws std::logic_error where
     * they do not hold, std::invalid_argument for a handle that is null or stale, memspan::error
     * when a driver fails. The device is any of CUDA's. @p stream_flags: of memspan_queue_get(). */
    explicit cuda_resource(handle from, unsigned stream_flags = 0)
        : handle_(detail::require_some(from)), streams_(handle_, stream_flags)
    {
        if constexpr (detail::is_one_of<cuda::mr::host_accessible, Properties...>) {
            detail::require_host(from);
        }
        if constexpr (detail::is_one_of<cuda::mr::device_accessible, Properties...>) {
            detail::require_device(from);
        }
    }

    /** Without a stream. Throws std::bad_alloc. */
    void *allocate(std::size_t size_bytes, std::size_t align_bytes = alignof(std::max_align_t))
    {
        return detail::take_some(handle_, size_bytes, align_bytes);
    }

    void deallocate(void *memory, std::size_t, std::size_t = alignof(std::max_align_t)) noexcept
    {
        memspan_free(memory);
    }

    /** The same by their names of newer releases. */
    void *allocate_sync(std::size_t size_bytes, std::size_t align_bytes = alignof(std::max_align_t))
    {
        return allocate(size_bytes, align_bytes);
    }

    void deallocate_sync(void *memory, std::size_t size_bytes,
                         std::size_t align_bytes = alignof(std::max_align_t)) noexcept
    {
        deallocate(memory, size_bytes, align_bytes);
    }

    /** In the order of a stream. Throws std::bad_alloc. */
    void *allocate(cuda::stream_ref stream, std::size_t size_bytes,
                   std::size_t align_bytes = alignof(std::max_align_t))
    {
        return streams_.take(handle_, size_bytes, align_bytes, stream.get());
    }

    void deallocate(cuda::stream_ref stream, void *memory, std::size_t,
                    std::size_t = alignof(std::max_align_t)) noexcept
    {
        streams_.free(memory, stream.get());
    }

    /** The same by their names of older releases. */
    void *allocate_async(std::size_t size_bytes, std::size_t align_bytes, cuda::stream_ref stream)
    {
        return allocate(stream, size_bytes, align_bytes);
    }

    void *allocate_async(std::size_t size_bytes, cuda::stream_ref stream)
    {
        return allocate(stream, size_bytes);
    }

    void deallocate_async(void *memory, std::size_t, std::size_t, cuda::stream_ref stream) noexcept
    {
        streams_.free(memory, stream.get());
    }

    void deallocate_async(void *memory, std::size_t, cuda::stream_ref stream) noexcept
    {
        streams_.free(memory, stream.get());
    }

    memspan_allocator_h get() const noexcept
    {
        return handle_;
    }

    friend bool operator==(const cuda_resource &a, const cuda_resource &b) noexcept
    {
        return a.handle_ == b.handle_;
    }

    friend bool operator!=(const cuda_resource &a, const cuda_resource &b) noexcept
    {
        return a.handle_ != b.handle_;
    }

    template <class Property, std::enable_if_t<detail::is_one_of<Property, Properties...>, int> = 0>
    friend void get_property(const cuda_resource &, Property) noexcept
    {
    }

  private:
    memspan_allocator_h handle_;
    detail::streams streams_;
};

/** Memory that the device reaches. */
using device_resource = cuda_resource<cuda::mr::device_accessible>;
/** Memory that the device and the host reach. */
using host_device_resource = cuda_resource<cuda::mr::device_accessible, cuda::mr::host_accessible>;

#ifdef MEMSPAN_HAS_RMM_RESOURCE
/** An allocator as a resource of RMM, for rmm::mr::set_current_device_resource() and containers. */
class rmm_resource final : public rmm::mr::device_memory_resource
{
  public:
    /** Throws as device_resource. */
    explicit rmm_resource(handle from, unsigned stream_flags = 0)
        : handle_(detail::require_device(from)), streams_(handle_, stream_flags)
    {
    }

    memspan_allocator_h get() const noexcept
    {
        return handle_;
    }

  private:
    void *do_allocate(std::size_t size_bytes, rmm::cuda_stream_view stream) override
    {
        constexpr std::size_t align_bytes = 256; /* as RMM promises */

        try {
            return streams_.take(handle_, size_bytes, align_bytes, stream.value());
        } catch (const std::bad_alloc &) {
            memspan_status_t status = memspan_error_last()->status;

            if (status == MEMSPAN_ERR_NO_MEMORY || status == MEMSPAN_ERR_LIMIT) {
                throw rmm::out_of_memory(memspan_error_text());
            }
            throw rmm::bad_alloc(memspan_error_text());
        }
    }

    void do_deallocate(void *memory, std::size_t, rmm::cuda_stream_view stream) noexcept override
    {
        streams_.free(memory, stream.value());
    }

    bool do_is_equal(const rmm::mr::device_memory_resource &other) const noexcept override
    {
        auto same = dynamic_cast<const rmm_resource *>(&other);
        return (same != nullptr) && (same->handle_ == handle_);
    }

    memspan_allocator_h handle_;
    detail::streams streams_;
};
#endif /* MEMSPAN_HAS_RMM_RESOURCE */

} // namespace memspan

#endif /* MEMSPAN_CUDA_MR_HPP */
