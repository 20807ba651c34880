/* SPDX-License-Identifier: BSD-3-Clause */
/* The C++ adaptors on host memory: containers, what goes where when they are copied, moved and
 * swapped, and that failure is an exception that leaves nothing behind. */

#include "containers.hpp"
#include <array>
#include <cstring>
#include <memspan/queue.h>
#include <stdexcept>

/* Like omp_allocator_handle_t of GCC and LLVM. */
enum openmp_handle : std::uintptr_t { openmp_none = 0, openmp_default = 1, openmp_high_bw = 4 };

struct alignas(256) wide {
    char bytes[300];
};

using traits     = std::allocator_traits<memspan::allocator<int>>;
using vector_int = vector_of<int>;

static_assert(traits::propagate_on_container_copy_assignment::value);
static_assert(traits::propagate_on_container_move_assignment::value);
static_assert(traits::propagate_on_container_swap::value);
static_assert(!traits::is_always_equal::value);
static_assert(std::is_nothrow_copy_constructible_v<memspan::allocator<int>>);
static_assert(std::is_nothrow_constructible_v<memspan::allocator<char>, memspan::allocator<int>>);
static_assert(std::is_nothrow_move_assignable_v<vector_int>);
static_assert(!std::is_copy_constructible_v<memspan::unique_allocator>);
static_assert(std::is_nothrow_move_constructible_v<memspan::unique_allocator>);
static_assert(!std::is_convertible_v<memspan_allocator_h, memspan::allocator<int>>);
static_assert(!std::is_constructible_v<memspan::allocator<int>, int>);
static_assert(!std::is_default_constructible_v<memspan::device_allocator<int>>);
static_assert(sizeof(memspan::allocator<int>) == sizeof(memspan_allocator_h));
static_assert(sizeof(memspan::unique_array<int>) == sizeof(int *));

static memspan::unique_allocator make_host(std::initializer_list<memspan_trait_t> with = {})
{
    return memspan::unique_allocator({MEMSPAN_HOST}, with);
}

static void check_handles()
{
    memspan::unique_allocator owner = make_host();

    CHECK(memspan::allocator<int>().get() == MEMSPAN_ALLOCATOR_DEFAULT);
    CHECK(memspan::allocator<int>(openmp_default) == memspan::allocator<char>());
    CHECK(memspan::allocator<int>(openmp_high_bw).get() == MEMSPAN_ALLOCATOR_HIGH_BW);
    CHECK(memspan::allocator<int>(std::uintptr_t{1}) == memspan::allocator<int>());
    CHECK(memspan::allocator<int>(owner).get() == owner.get());
    CHECK(memspan::allocator<int>(owner) != memspan::allocator<int>());
    CHECK(memspan::memory_resource(openmp_default).get() == MEMSPAN_ALLOCATOR_DEFAULT);

    CHECK(throws<std::invalid_argument>([] { memspan::allocator<int> a(openmp_none); }, "null"));
    CHECK(throws<std::invalid_argument>([] { memspan::memory_resource a(nullptr); }, "null"));
    CHECK(throws<std::invalid_argument>([] { memspan::device_allocator<int> a(openmp_none); }));
    memspan_allocator_h stale = owner.get();
    owner.reset();
    CHECK(throws<std::logic_error>([=] { memspan::allocator<int> a(stale); }));
    CHECK(throws<std::logic_error>([&] { memspan::allocator<int> a(owner); }));
}

static void throw_error(void *)
{
    throw std::runtime_error("of the function");
}

/* The host's queue calls a function in the call itself: nothing is left by an exception. */
static void check_exception_on_queue()
{
    memspan_queue_h queue = MEMSPAN_QUEUE_NULL;

    CHECK(memspan_queue_open(MEMSPAN_HOST, MEMSPAN_QUEUE_OWN, nullptr, 0, &queue) == MEMSPAN_OK);
    CHECK(throws<std::runtime_error>([=] { memspan_call_on(queue, throw_error, nullptr); }, "of"));
    CHECK(memspan_queue_close(queue) == MEMSPAN_OK); /* waits for the calls that have not ended */
}

static void check_owner()
{
    memspan::unique_allocator a     = make_host({{MEMSPAN_TRAIT_ALIGNMENT, 512}});
    memspan_allocator_h handle      = a.get();
    memspan::unique_allocator moved = std::move(a);

    CHECK(!a && moved && moved.get() == handle);
    memspan::unique_allocator tight = moved.derive({{MEMSPAN_TRAIT_POOL_SIZE, 4096}});
    CHECK(tight && tight.get() != handle);
    void *block = memspan_alloc(tight.get(), 100);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 512 == 0);
    CHECK(memspan_free(block) == MEMSPAN_OK);
    swap(tight, moved);
    CHECK(tight.get() == handle);
    tight = std::move(moved); /* the first handle goes */
    CHECK(memspan_alloc(handle, 1) == nullptr);
    CHECK(memspan::unique_allocator::over(MEMSPAN_SPACE_HIGH_BW).get() != nullptr);

    try {
        memspan::unique_allocator none({12345});
        CHECK(!"a device that is not there");
    } catch (const memspan::error &e) {
        CHECK(e.status() == MEMSPAN_ERR_NOT_FOUND);
        CHECK(std::strstr(e.what(), "12345") != nullptr);
    }
    CHECK(throws<memspan::error>([] { make_host({{MEMSPAN_TRAIT_ALIGNMENT, 3}}); }, "alignment"));
    CHECK(throws<memspan::error>(
        [] { memspan::unique_allocator none(std::initializer_list<int>{}); }));
}

/* The handle goes with the memory, so that memory never ends at another allocator's container. */
static void check_propagation()
{
    memspan::unique_allocator one = make_host();
    memspan::unique_allocator two = make_host();
    {
        vector_int a(100, 1, memspan::allocator<int>(one));
        vector_int b(200, 2, memspan::allocator<int>(two));
        const int *data = a.data();

        swap(a, b);
        CHECK(b.data() == data && b.get_allocator().get() == one.get());
        CHECK(a.size() == 200 && owner_of(a.data()) == two.get());

        a = b;
        CHECK(a == b && a.get_allocator().get() == one.get() && owner_of(a.data()) == one.get());

        vector_int c(memspan::allocator<int>{two});
        c = std::move(b);
        CHECK(c.data() == data && c.get_allocator().get() == one.get());

        vector_int d(c);
        CHECK(d == c && d.get_allocator().get() == one.get());

        vector_int e(std::move(d), memspan::allocator<int>(two));
        CHECK(e == c && owner_of(e.data()) == two.get());
    }
    CHECK(is_empty(one.get()) && is_empty(two.get()));
}

static void check_alignment()
{
    memspan::unique_allocator owner = make_host();
    {
        vector_of<wide> many(33, memspan::allocator<wide>(owner));
        std::list<wide, memspan::allocator<wide>> nodes(9, memspan::allocator<wide>(owner));

        CHECK(reinterpret_cast<std::uintptr_t>(many.data()) % alignof(wide) == 0);
        for (const wide &node : nodes) {
            CHECK(reinterpret_cast<std::uintptr_t>(&node) % alignof(wide) == 0);
        }
    }
    CHECK(is_empty(owner.get()));
}

static void check_failure()
{
    memspan::unique_allocator owner = make_host(
        {{MEMSPAN_TRAIT_POOL_SIZE, 64 * 1024}, {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}});
    memspan::allocator<int> from(owner);
    memspan::memory_resource memory(owner);
    {
        vector_int numbers(from);
        CHECK(throws<std::bad_alloc>([&] {
            for (int i = 0; i < 1 << 20; i++) {
                numbers.push_back(i);
            }
        }));
        CHECK(numbers.size() > 1000 && numbers[1000] == 1000);
        CHECK(stats_of(owner.get()).live_count == 1);

        std::map<int, std::array<char, 1000>, std::less<int>,
                 memspan::allocator<std::pair<const int, std::array<char, 1000>>>>
            map(from);
        CHECK(throws<std::bad_alloc>([&] {
            for (int i = 0; i < 1000; i++) {
                map[i] = {};
            }
        }));
        CHECK(map.size() < 100);
        CHECK(throws<std::bad_alloc>([&] { (void)memory.allocate(1 << 20, 8); }));
    }
    CHECK(is_empty(owner.get()));

    CHECK(throws<std::bad_array_new_length>([&] { (void)from.allocate(SIZE_MAX); }));
    CHECK(throws<std::bad_array_new_length>([&] { (void)from.allocate(SIZE_MAX / 4 + 2); }));
    CHECK(throws<std::bad_array_new_length>([&] { (void)from.allocate(from.max_size() + 1); }));
    CHECK(throws<std::bad_alloc>([&] { (void)from.allocate(from.max_size()); }));
    CHECK(throws<std::bad_alloc>([&] { (void)memory.allocate(SIZE_MAX / 2, 1); }));
    CHECK(throws<std::length_error>([&] { vector_int huge(from.max_size() + 1, from); }));
    from.deallocate(from.allocate(0), 0);
    CHECK(is_empty(owner.get()));
}

/* A container takes the owner for its allocator, and a failure says why. */
static void check_ease()
{
    memspan::unique_allocator owner = make_host(
        {{MEMSPAN_TRAIT_POOL_SIZE, 64 * 1024}, {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}});
    vector_int few(10, owner);
    vector_int sevens(10, 7, owner);

    CHECK(few.get_allocator().get() == owner.get() && sevens[9] == 7);
    owner.set_name("small");
    const auto says_why = [](const auto &allocate) {
        try {
            allocate();
        } catch (const std::bad_alloc &failure) {
            return std::strstr(failure.what(), "pool_size") != nullptr &&
                   std::strncmp(failure.what(), memspan_error_text(), 100) == 0;
        }
        return false;
    };
    CHECK(says_why([&] { few.resize(100000); }));
    CHECK(says_why([&] { (void)memspan::memory_resource(owner).allocate(1 << 20, 64); }));
    CHECK(says_why([&] { (void)memspan::make_unique_array<double>(owner, 100000); }));
    static_assert(!std::is_convertible_v<memspan_allocator_h, memspan::allocator<int>>);
}

static int objects = 0;

struct counted {
    counted()
    {
        objects++;
    }
    ~counted()
    {
        objects--;
    }
};

static void check_pointers()
{
    memspan::unique_allocator owner = make_host();
    {
        memspan::unique_array<double> array = memspan::make_unique_array<double>(owner, 100);
        array[99]                           = 1.0;
        CHECK(owner_of(array.get()) == owner.get());
        CHECK(memspan::make_unique_array<double>(owner, 0) == nullptr);

        void *memory = memspan_alloc(owner.get(), sizeof(counted));
        std::unique_ptr<counted, memspan::deleter<counted>> object(new (memory) counted);
        CHECK(objects == 1);
    }
    CHECK(objects == 0);
    CHECK(is_empty(owner.get()));
    CHECK(throws<std::bad_array_new_length>(
        [&] { memspan::make_unique_array<double>(owner, SIZE_MAX / 8 + 2); }));
    CHECK(throws<std::invalid_argument>(
        [] { memspan::make_unique_array<double>(memspan::unique_allocator(), 1); }));
}

/* Memory outlives the handle, in containers too. */
static void check_lifetime()
{
    memspan::unique_allocator owner = make_host();
    vector_int numbers(1000, 7, memspan::allocator<int>(owner));

    owner.reset();
    CHECK(numbers[999] == 7);
    CHECK(throws<std::bad_alloc>([&] { numbers.reserve(100000); }));
    CHECK(numbers[0] == 7);
}

int main()
{
    memspan::unique_allocator owner = make_host();

    check_containers(owner.get());
    check_handles();
    check_exception_on_queue();
    check_owner();
    check_propagation();
    check_alignment();
    check_failure();
    check_ease();
    check_pointers();
    check_lifetime();
    return check_result();
}
