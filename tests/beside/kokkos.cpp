/* SPDX-License-Identifier: BSD-3-Clause */
/* kokkos.cpp: the recipe of memspan-beside(7), Kokkos views in memory of an allocator. */

#include <Kokkos_Core.hpp>
#include <memspan/memspan.hpp>

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

/* The recipe: an unmanaged view, and the owner of its memory. */
template <class View> struct owned_view {
    using element = typename View::non_const_value_type;
    using unmanaged =
        Kokkos::View<typename View::data_type, typename View::array_layout,
                     typename View::device_type, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

    template <class... Extents>
    explicit owned_view(memspan::handle from, Extents... extents)
        : memory(memspan::make_unique_array<element>(
              from, unmanaged::required_allocation_size(extents...) / sizeof(element))),
          view(memory.get(), extents...)
    {
    }

    ~owned_view()
    {
        Kokkos::fence("memspan: free a view"); /* kernels may still use the memory */
    }

    owned_view(owned_view &&) = default;

    memspan::unique_array<element> memory;
    unmanaged view;
};

static std::size_t live(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t stats = {};

    stats.struct_size = sizeof(stats);
    CHECK(memspan_allocator_get_stats(allocator, &stats) == MEMSPAN_OK);
    return stats.live_count;
}

template <class Space> static void check_space(memspan_allocator_h allocator)
{
    using view_type    = Kokkos::View<double **, Space>;
    constexpr int rows = 100, columns = 30;

    {
        owned_view<view_type> a(allocator, rows, columns);
        owned_view<view_type> b(allocator, rows, columns);
        auto x = a.view, y = b.view;
        double sum = 0;

        CHECK(live(allocator) == 2);
        CHECK(memspan_pointer_kind(x.data()) != MEMSPAN_KIND_NONE);
        Kokkos::deep_copy(Kokkos::DefaultHostExecutionSpace(), x, 2.0);
        Kokkos::parallel_for(
            Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>({0, 0}, {rows, columns}),
            KOKKOS_LAMBDA(int i, int j) { y(i, j) = x(i, j) * i; });
        Kokkos::parallel_reduce(
            Kokkos::RangePolicy<Space>(0, rows),
            KOKKOS_LAMBDA(int i, double &part) {
                for (int j = 0; j < columns; j++) {
                    part += y(i, j);
                }
            },
            sum);
        CHECK(sum == 2.0 * columns * rows * (rows - 1) / 2);

        /* A managed view of Kokkos, and ours, copy into each other. */
        view_type managed("managed", rows, columns);
        Kokkos::deep_copy(managed, y);
        CHECK(managed(rows - 1, 0) == 2.0 * (rows - 1));
        owned_view<view_type> moved = std::move(a);
        CHECK(live(allocator) == 2);
    }
    CHECK(live(allocator) == 0);
}

int main(int argc, char **argv)
{
    Kokkos::ScopeGuard guard(argc, argv);
    memspan::unique_allocator interleaved(
        {MEMSPAN_HOST},
        {{MEMSPAN_TRAIT_PARTITION, MEMSPAN_VALUE_INTERLEAVED}, {MEMSPAN_TRAIT_ALIGNMENT, 64}});

#ifdef KOKKOS_ENABLE_SERIAL
    check_space<Kokkos::Serial>(interleaved.get());
#endif
#ifdef KOKKOS_ENABLE_OPENMP
    check_space<Kokkos::OpenMP>(interleaved.get());
#endif
    std::printf("Kokkos %d: passed on %s\n", KOKKOS_VERSION, Kokkos::DefaultExecutionSpace::name());
    return 0;
}
