/* SPDX-License-Identifier: BSD-3-Clause */
/* The C++ adaptors on a device's memory: coherent memory is for containers, a device's own is
 * refused by name and goes through memspan::device_allocator. Device 0 is an OpenCL device. */

#include "containers.hpp"

static void check_coherent()
{
    memspan::unique_allocator owner({0, MEMSPAN_HOST},
                                    {{MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_COHERENT}});
    check_containers(owner.get());
}

/* What the host computes in a container, the device reads where it is. */
static void check_kernel()
{
    memspan::unique_allocator owner({0, MEMSPAN_HOST});
    memspan::allocator<double> from(owner);
    vector_of<double> x(1000, 2.0, from);
    vector_of<double> y(1000, 1.0, from);
    vector_of<double> z(1000, 0.5, from);
    memspan_kernel_call_t call = {};

    call.struct_size = sizeof(call);
    call.kernel      = MEMSPAN_KERNEL_DAXPY;
    call.count       = z.size();
    call.a           = 3.0;
    call.x           = x.data();
    call.y           = y.data();
    call.z           = z.data();
    if (memspan_kernel_launch(0, &call) != MEMSPAN_OK) {
        std::printf("no kernel: %s\n", memspan_error_text());
        CHECK(memspan_error_last()->status == MEMSPAN_ERR_UNSUPPORTED);
        return;
    }
    CHECK(memspan_device_synchronize(0) == MEMSPAN_OK);
    for (double value : z) {
        CHECK(value == 7.5);
    }
}

static void check_device_only()
{
    memspan::unique_allocator owner({0});
    memspan_reach_t reach = {};

    CHECK(memspan_allocator_reach(owner.get(), MEMSPAN_HOST, &reach) == MEMSPAN_OK);
    if (reach.access >= MEMSPAN_ACCESS_FAULT) {
        std::printf("the host reaches all memory of device 0\n");
        return;
    }
    CHECK(throws<std::logic_error>([&] { memspan::allocator<int> a(owner); }, "device memory"));
    CHECK(throws<std::logic_error>([&] { memspan::memory_resource a(owner); }, "device memory"));

    /* A host allocator whose fallback is out of reach is no better. */
    memspan::unique_allocator through(
        {MEMSPAN_HOST}, {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_ALLOCATOR_FB},
                         {MEMSPAN_TRAIT_FB_DATA, reinterpret_cast<std::uintptr_t>(owner.get())}});
    CHECK(throws<std::logic_error>([&] { memspan::allocator<int> a(through); }, "fallback"));

    memspan::device_allocator<double> from(owner);
    const double sent[4] = {1, 2, 3, 4};
    double back[4]       = {};
    double *memory       = from.allocate(4);

    CHECK(memspan_copy(memory, sent, sizeof(sent)) == MEMSPAN_OK);
    CHECK(memspan_copy(back, memory, sizeof(back)) == MEMSPAN_OK);
    CHECK(std::memcmp(sent, back, sizeof(sent)) == 0);
    from.deallocate(memory, 4);
    CHECK(throws<std::bad_array_new_length>([&] { (void)from.allocate(SIZE_MAX / 4); }));
    {
        memspan::unique_array<double> array = memspan::make_unique_array<double>(owner, 1000);
        CHECK(memspan_fill(array.get(), 0, 8000) == MEMSPAN_OK);
    }
    CHECK(is_empty(owner.get()));
}

static void check_queue()
{
    memspan::unique_allocator owner({0});
    memspan::queue first(0);
    memspan::queue second(0);
    memspan::queue_allocator<double> from(owner, first);
    memspan::queue_allocator<double> other(owner, second);
    const double sent[4] = {1, 2, 3, 4};
    double back[4]       = {};
    double *memory       = from.allocate(4);

    CHECK(memspan_copy_on(first.get(), memory, sent, sizeof(sent)) == MEMSPAN_OK);
    second.wait(first);
    CHECK(memspan_copy_on(second.get(), back, memory, sizeof(back)) == MEMSPAN_OK);
    CHECK(memspan_used_on(memory, second.get()) == MEMSPAN_OK);
    from.deallocate(memory, 4);
    second.synchronize();
    CHECK(std::memcmp(sent, back, sizeof(sent)) == 0);
    CHECK(from != other && from == memspan::queue_allocator<double>(owner, first));
    CHECK(throws<std::bad_array_new_length>([&] { (void)from.allocate(SIZE_MAX / 4); }));

    memspan::queue moved = std::move(first);
    CHECK(moved.get() == from.order());
    CHECK(throws<memspan::error>([&] { second.wait(first); }, "no queue"));
    CHECK(throws<memspan::error>([] { memspan::queue none(12345); }, "12345"));
    CHECK(is_empty(owner.get()));
}

int main()
{
    if (memspan_device_count() == 0) {
        std::printf("skip: no OpenCL device\n");
        return 77;
    }
    check_coherent();
    check_kernel();
    check_device_only();
    check_queue();
    return check_result();
}
