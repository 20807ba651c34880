/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_HPP
#define MEMSPAN_HPP

#include <memspan/memspan.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <memory>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

/** @file memspan.hpp
 * The standard library's containers and pointers over Memspan's allocators. C++17, header only.
 *
 *   memspan::unique_allocator     owns an allocator, made from devices and traits
 *   memspan::allocator<T>         for std::vector, std::map ...; the host must reach the memory
 *   memspan::memory_resource      the same for std::pmr containers
 *   memspan::device_allocator<T>  for memory that only devices may reach; constructs nothing
 *   memspan::queue                owns a queue, or stands for a native one
 *   memspan::queue_allocator<T>   device_allocator whose memory is in the order of a queue
 *   memspan::deleter<T>, memspan::unique_array<T>, memspan::make_unique_array<T>()
 *
 * A container constructs and reads its elements on the host, which must reach the memory.
 * memspan::allocator and memspan::memory_resource check that once, when they are made from a
 * handle, for the allocator and its fallbacks: else they throw std::logic_error with the kind of
 * memory. device_allocator refuses host construction at compile time instead.
 *
 * Ownership: only unique_allocator owns; all others hold a handle by value and must not allocate
 * after it is destroyed. Memory outlives the handle, as in C.
 *
 * Errors: memspan::bad_alloc, a std::bad_alloc with the reason, without enough memory;
 * std::bad_array_new_length for a size that overflows, std::logic_error for an unusable handle,
 * memspan::error for a failed call of the library; memspan_error_text() has the details on the same
 * thread.
 *
 * Threads: as in C, every call may run on any thread; the objects themselves are like any value of
 * the standard library. */

namespace memspan
{

/** A call of the library failed. what() is memspan_error_text(). */
class MEMSPAN_API error : public std::runtime_error
{
  public:
    /** The calling thread's last error, which a call that returned @p status left. */
    explicit error(memspan_status_t status)
        : std::runtime_error(memspan_error_text()), status_(status)
    {
    }

    memspan_status_t status() const noexcept
    {
        return status_;
    }

  private:
    memspan_status_t status_;
};

/** Not enough memory. what() is the start of memspan_error_text(). */
class MEMSPAN_API bad_alloc : public std::bad_alloc
{
  public:
    /** The calling thread's last error. Takes no memory: there may be none. */
    bad_alloc() noexcept
    {
        std::snprintf(text_, sizeof(text_), "%s", memspan_error_text());
    }

    const char *what() const noexcept override
    {
        return text_;
    }

  private:
    char text_[512];
};

class unique_allocator;

/** Any spelling of an allocator: memspan_allocator_h, omp_allocator_handle_t (an enumeration as
 * wide as a pointer, or uintptr_t where the compiler has no omp.h), or a unique_allocator. No
 * check. */
class handle
{
    template <class E>
    static constexpr bool is_openmp = (std::is_enum_v<E> && sizeof(E) == sizeof(std::uintptr_t)) ||
                                      std::is_same_v<E, std::uintptr_t>;

  public:
    handle(memspan_allocator_h value) noexcept : value_(value)
    {
    }

    template <class E, std::enable_if_t<is_openmp<E>, int> = 0>
    handle(E value) noexcept
        : value_(reinterpret_cast<memspan_allocator_h>(static_cast<std::uintptr_t>(value)))
    {
    }

    inline handle(const unique_allocator &owner) noexcept;

    memspan_allocator_h get() const noexcept
    {
        return value_;
    }

  private:
    memspan_allocator_h value_;
};

namespace detail
{

inline void check(memspan_status_t status)
{
    if (status != MEMSPAN_OK) {
        throw error(status);
    }
}

/* memspan_alloc() promises as much without being asked. */
inline constexpr std::size_t align_given_bytes = 16;

inline void *take(memspan_allocator_h allocator, std::size_t size_bytes, std::size_t align_bytes)
{
    void *memory = (align_bytes > align_given_bytes)
                       ? memspan_aligned_alloc(allocator, align_bytes, size_bytes)
                       : memspan_alloc(allocator, size_bytes);
    if (memory == nullptr) {
        throw bad_alloc();
    }
    return memory;
}

template <class T> constexpr std::size_t count_max() noexcept
{
    return static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(T);
}

/* No elements need no memory; the library has NULL for them, which is no failure here. */
template <class T> T *take_array(memspan_allocator_h allocator, std::size_t count)
{
    if (count > count_max<T>()) {
        throw std::bad_array_new_length();
    }
    return (count == 0) ? nullptr
                        : static_cast<T *>(take(allocator, count * sizeof(T), alignof(T)));
}

/* A null handle is what a failed omp_init_allocator() leaves, so it is not taken for the default
 * allocator, which may also be another one at each allocation. */
inline memspan_allocator_h require_some(handle from)
{
    if (from.get() == MEMSPAN_ALLOCATOR_NULL) {
        throw std::invalid_argument("memspan: a null handle is no allocator");
    }
    return from.get();
}

inline memspan_allocator_info_t describe(memspan_allocator_h allocator)
{
    memspan_allocator_info_t info = {};

    info.struct_size        = sizeof(info);
    memspan_status_t status = memspan_allocator_describe(allocator, &info);
    if (status == MEMSPAN_ERR_NOT_FOUND || status == MEMSPAN_ERR_INVALID) {
        throw std::invalid_argument(std::string("memspan: ") + memspan_error_text());
    }
    if (status != MEMSPAN_OK) {
        throw error(status);
    }
    return info;
}

/* The allocator and each fallback behind it; the library lets no fallback lead round in a circle.
 */
inline memspan_allocator_h require_host(handle from)
{
    for (memspan_allocator_h at = require_some(from); at != MEMSPAN_ALLOCATOR_NULL;) {
        memspan_allocator_info_t info = describe(at);
        memspan_reach_t reach         = {};
        memspan_status_t status       = memspan_allocator_reach(at, MEMSPAN_HOST, &reach);

        if (status != MEMSPAN_OK) {
            throw error(status);
        }
        if (reach.access < MEMSPAN_ACCESS_FAULT) {
            throw std::logic_error(
                std::string("memspan: the host cannot touch ") +
                memspan_kind_name(info.kind_given) +
                " memory (access: " + memspan_access_name(reach.access) +
                (at == from.get() ? ")" : "), which a fallback of the allocator gives"));
        }
        at = info.fallback;
    }
    return from.get();
}

template <class T> inline constexpr bool never = false;

} // namespace detail

/** Owns an allocator handle; moves, does not copy. Live memory stays usable after the owner is
 * destroyed. */
class unique_allocator
{
  public:
    /** Owns nothing. */
    unique_allocator() noexcept = default;

    /** Memory that every one of @p devices reaches (MEMSPAN_HOST may be among them); see
     * memspan_space_get() and memspan_allocator_create(). Throws memspan::error. */
    explicit unique_allocator(std::initializer_list<int> devices,
                              std::initializer_list<memspan_trait_t> traits = {},
                              memspan_space_h base                          = MEMSPAN_SPACE_NULL)
        : unique_allocator(devices.begin(), devices.size(), traits.begin(), traits.size(), base)
    {
    }

    unique_allocator(const int *devices, std::size_t device_count, const memspan_trait_t *traits,
                     std::size_t trait_count, memspan_space_h base = MEMSPAN_SPACE_NULL)
    {
        memspan_space_h space;

        detail::check(memspan_space_get(devices, device_count, base, &space));
        detail::check(memspan_allocator_create(space, traits, trait_count, &handle_));
    }

    /** Take over @p owned, which becomes this object's to destroy. */
    explicit unique_allocator(memspan_allocator_h owned) noexcept : handle_(owned)
    {
    }

    unique_allocator(unique_allocator &&other) noexcept : handle_(other.release())
    {
    }

    unique_allocator &operator=(unique_allocator &&other) noexcept
    {
        reset(other.release());
        return *this;
    }

    ~unique_allocator()
    {
        reset();
    }

    /** An allocator over an existing space. Throws memspan::error. */
    static unique_allocator over(memspan_space_h space,
                                 std::initializer_list<memspan_trait_t> traits = {})
    {
        unique_allocator made;

        detail::check(
            memspan_allocator_create(space, traits.begin(), traits.size(), &made.handle_));
        return made;
    }

    /** A copy with some traits replaced; see memspan_allocator_derive(). Throws memspan::error. */
    unique_allocator derive(std::initializer_list<memspan_trait_t> traits) const
    {
        unique_allocator made;

        detail::check(memspan_allocator_derive(detail::require_some(handle_), traits.begin(),
                                               traits.size(), &made.handle_));
        return made;
    }

    /** See memspan_allocator_set_name(). Throws memspan::error. */
    void set_name(const char *name)
    {
        detail::check(memspan_allocator_set_name(detail::require_some(handle_), name));
    }

    memspan_allocator_h get() const noexcept
    {
        return handle_;
    }

    explicit operator bool() const noexcept
    {
        return handle_ != MEMSPAN_ALLOCATOR_NULL;
    }

    /** Release the handle without destroying it. */
    memspan_allocator_h release() noexcept
    {
        return std::exchange(handle_, MEMSPAN_ALLOCATOR_NULL);
    }

    void reset(memspan_allocator_h owned = MEMSPAN_ALLOCATOR_NULL) noexcept
    {
        memspan_allocator_h old = std::exchange(handle_, owned);
        if (old != owned) {
            memspan_allocator_destroy(old);
        }
    }

    void swap(unique_allocator &other) noexcept
    {
        std::swap(handle_, other.handle_);
    }

    friend void swap(unique_allocator &a, unique_allocator &b) noexcept
    {
        a.swap(b);
    }

  private:
    memspan_allocator_h handle_ = MEMSPAN_ALLOCATOR_NULL;
};

inline handle::handle(const unique_allocator &owner) noexcept : value_(owner.get())
{
}

/** An allocator for the standard containers. Two are equal when their handles are; the handle goes
 * with the memory when containers are copied, moved or swapped. */
template <class T> class allocator
{
    static_assert(std::is_same_v<T, std::remove_cv_t<T>>, "elements may not be const or volatile");

  public:
    using value_type                             = T;
    using size_type                              = std::size_t;
    using difference_type                        = std::ptrdiff_t;
    using propagate_on_container_copy_assignment = std::true_type;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap            = std::true_type;
    using is_always_equal                        = std::false_type;

    /** Ordinary host memory: MEMSPAN_ALLOCATOR_DEFAULT. */
    allocator() noexcept = default;

    /** Throws std::logic_error naming the kind of memory when the host does not reach it,
     * std::invalid_argument for a handle that is null or stale, memspan::error when a driver that
     * has to be asked fails. */
    explicit allocator(handle from) : handle_(detail::require_host(from))
    {
    }

    /** The same, not explicit: a container takes @p owner for its allocator. */
    allocator(const unique_allocator &owner) : allocator(handle(owner))
    {
    }

    template <class U> allocator(const allocator<U> &other) noexcept : handle_(other.get())
    {
    }

    /** Throws memspan::bad_alloc (std::bad_array_new_length when the size does not fit). */
    [[nodiscard]] T *allocate(std::size_t count)
    {
        return detail::take_array<T>(handle_, count);
    }

    void deallocate(T *memory, std::size_t) noexcept
    {
        memspan_free(memory);
    }

    std::size_t max_size() const noexcept
    {
        return detail::count_max<T>();
    }

    memspan_allocator_h get() const noexcept
    {
        return handle_;
    }

  private:
    memspan_allocator_h handle_ = MEMSPAN_ALLOCATOR_DEFAULT;
};

template <class T, class U> bool operator==(const allocator<T> &a, const allocator<U> &b) noexcept
{
    return a.get() == b.get();
}

template <class T, class U> bool operator!=(const allocator<T> &a, const allocator<U> &b) noexcept
{
    return a.get() != b.get();
}

/** An allocator as a std::pmr::memory_resource. Equal to another one with the same handle. */
class MEMSPAN_API memory_resource : public std::pmr::memory_resource
{
  public:
    /** Throws like allocator<T>. */
    explicit memory_resource(handle from) : handle_(detail::require_host(from))
    {
    }

    memspan_allocator_h get() const noexcept
    {
        return handle_;
    }

  protected:
    /* A resource has to answer a request for nothing with an address. */
    void *do_allocate(std::size_t size_bytes, std::size_t align_bytes) override
    {
        return detail::take(handle_, (size_bytes == 0) ? 1 : size_bytes, align_bytes);
    }

    void do_deallocate(void *memory, std::size_t, std::size_t) override
    {
        memspan_free(memory);
    }

    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
    {
#if defined(__cpp_rtti)
        auto same = dynamic_cast<const memory_resource *>(&other);
        return (same != nullptr) && (same->handle_ == handle_);
#else
        return this == &other;
#endif
    }

  private:
    memspan_allocator_h handle_;
};

/** Allocates memory that only devices may reach: addresses for kernels and memspan_copy(), not to
 * read. Construction of an element does not compile, nor does conversion to another type, which
 * containers use to put their own nodes into the memory. */
template <class T> class device_allocator
{
    static_assert(std::is_trivially_copyable_v<T>, "elements must be movable by memspan_copy()");

  public:
    using value_type                             = T;
    using size_type                              = std::size_t;
    using difference_type                        = std::ptrdiff_t;
    using propagate_on_container_copy_assignment = std::true_type;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap            = std::true_type;
    using is_always_equal                        = std::false_type;

    /** Throws std::invalid_argument for a null handle. */
    explicit device_allocator(handle from) : handle_(detail::require_some(from))
    {
    }

    template <class U> device_allocator(const device_allocator<U> &other) : handle_(other.get())
    {
        static_assert(detail::never<U>,
                      "memspan: a container that keeps nodes or tables of its own "
                      "cannot be in device memory");
    }

    /** Throws memspan::bad_alloc (std::bad_array_new_length when the size does not fit). */
    [[nodiscard]] T *allocate(std::size_t count)
    {
        return detail::take_array<T>(handle_, count);
    }

    void deallocate(T *memory, std::size_t) noexcept
    {
        memspan_free(memory);
    }

    template <class U, class... Arguments> void construct(U *, Arguments &&...)
    {
        static_assert(detail::never<U>,
                      "memspan: the host cannot construct elements in device memory; use "
                      "memspan::allocator over memory that the host reaches too");
    }

    std::size_t max_size() const noexcept
    {
        return detail::count_max<T>();
    }

    memspan_allocator_h get() const noexcept
    {
        return handle_;
    }

  private:
    memspan_allocator_h handle_;
};

template <class T>
bool operator==(const device_allocator<T> &a, const device_allocator<T> &b) noexcept
{
    return a.get() == b.get();
}

template <class T>
bool operator!=(const device_allocator<T> &a, const device_allocator<T> &b) noexcept
{
    return a.get() != b.get();
}

/** A queue of a device; the destructor waits for its work. Movable, not copyable. */
class queue
{
  public:
    /** A new queue. Throws memspan::error. */
    explicit queue(int device) : queue(device, MEMSPAN_QUEUE_OWN, nullptr)
    {
    }

    /** A native queue, which stays the program's. Throws memspan::error. */
    queue(int device, memspan_queue_type_t type, void *native, unsigned flags = 0)
    {
        detail::check(memspan_queue_open(device, type, native, flags, &handle_));
    }

    queue(queue &&other) noexcept : handle_(std::exchange(other.handle_, MEMSPAN_QUEUE_NULL))
    {
    }

    queue &operator=(queue &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }

    ~queue()
    {
        memspan_queue_close(handle_);
    }

    /** Later work starts after what is on @p other now. Throws memspan::error. */
    void wait(const queue &other)
    {
        detail::check(memspan_queue_wait(handle_, other.handle_));
    }

    /** Until the work is complete. Throws memspan::error. */
    void synchronize()
    {
        detail::check(memspan_queue_synchronize(handle_));
    }

    /** Attach managed memory to this queue (memspan_queue_attach()), or to none. Throw
     * memspan::error. */
    void attach(void *memory)
    {
        detail::check(memspan_queue_attach(memory, handle_));
    }
    static void detach(void *memory)
    {
        detail::check(memspan_queue_attach(memory, MEMSPAN_QUEUE_NULL));
    }

    memspan_queue_h get() const noexcept
    {
        return handle_;
    }

  private:
    memspan_queue_h handle_ = MEMSPAN_QUEUE_NULL;
};

/** Memory in the order of a queue (memspan_alloc_on()), which must outlive its containers. The host
 * constructs nothing there. */
template <class T> class queue_allocator : public device_allocator<T>
{
  public:
    using value_type = T;
    template <class U> struct rebind {
        using other = queue_allocator<U>;
    };

    /** Throws std::invalid_argument for a null handle. */
    queue_allocator(handle from, const queue &order)
        : device_allocator<T>(from), queue_(order.get())
    {
    }

    /** Throws memspan::bad_alloc (std::bad_array_new_length when the size does not fit). */
    [[nodiscard]] T *allocate(std::size_t count)
    {
        void *memory;

        if (count > detail::count_max<T>()) {
            throw std::bad_array_new_length();
        }
        memory = memspan_alloc_on(this->get(), count * sizeof(T), queue_);
        if (memory == nullptr) {
            throw bad_alloc();
        }
        return static_cast<T *>(memory);
    }

    void deallocate(T *memory, std::size_t) noexcept
    {
        memspan_free_on(memory, queue_);
    }

    memspan_queue_h order() const noexcept
    {
        return queue_;
    }

  private:
    memspan_queue_h queue_;
};

template <class T>
bool operator==(const queue_allocator<T> &a, const queue_allocator<T> &b) noexcept
{
    return (a.get() == b.get()) && (a.order() == b.order());
}

template <class T>
bool operator!=(const queue_allocator<T> &a, const queue_allocator<T> &b) noexcept
{
    return !(a == b);
}

/** For std::unique_ptr to memory of any Memspan allocator: destroys the object, if its type needs
 * that, and frees the memory. */
template <class T> struct deleter {
    void operator()(T *object) const noexcept
    {
        std::destroy_at(object);
        memspan_free(const_cast<std::remove_cv_t<T> *>(object));
    }
};

/** The number of elements is not kept, so their type must not need destruction. */
template <class T> struct deleter<T[]> {
    static_assert(std::is_trivially_destructible_v<T>, "elements must not need destruction");

    void operator()(T *elements) const noexcept
    {
        memspan_free(const_cast<std::remove_cv_t<T> *>(elements));
    }
};

template <class T> using unique_array = std::unique_ptr<T[], deleter<T[]>>;

/** @p count elements without a value, in memory of any kind; 0: null. Throws memspan::bad_alloc,
 * std::invalid_argument for a null handle. */
template <class T> unique_array<T> make_unique_array(handle from, std::size_t count)
{
    static_assert(std::is_trivially_copyable_v<T>, "elements must be movable by memspan_copy()");

    return unique_array<T>(detail::take_array<T>(detail::require_some(from), count));
}

} // namespace memspan

#endif /* MEMSPAN_HPP */
