// SPDX-License-Identifier: BSD-3-Clause
// C++: default arguments, a standard container on an OpenMP allocator, exceptions across a region.
#include <cstdint>
#include <cstdio>
#include <map>
#include <omp.h>
#include <vector>

static omp_allocator_handle_t chosen;

template <class T> struct omp_memory {
    using value_type = T;
    omp_memory()     = default;
    template <class U> omp_memory(const omp_memory<U> &)
    {
    }
    T *allocate(std::size_t n)
    {
        void *p = omp_aligned_alloc(alignof(T), n * sizeof(T), chosen);
        if (p == nullptr) {
            throw std::bad_alloc();
        }
        return static_cast<T *>(p);
    }
    void deallocate(T *p, std::size_t)
    {
        omp_free(p);
    }
    template <class U> bool operator==(const omp_memory<U> &) const
    {
        return true;
    }
    template <class U> bool operator!=(const omp_memory<U> &) const
    {
        return false;
    }
};

struct counted {
    static int alive;
    double value;
    explicit counted(double v = 1) : value(v)
    {
#pragma omp atomic
        alive++;
    }
    counted(const counted &other) : value(other.value)
    {
#pragma omp atomic
        alive++;
    }
    ~counted()
    {
#pragma omp atomic
        alive--;
    }
};
int counted::alive;

int main()
{
    omp_alloctrait_t traits[] = {{omp_atk_alignment, 64}};
    chosen                    = omp_init_allocator(omp_default_mem_space, 1, traits);
    {
        std::vector<int, omp_memory<int>> v;
        std::map<int, int, std::less<int>, omp_memory<std::pair<const int, int>>> m;
        long sum = 0;
        for (int i = 0; i < 10000; i++) {
            v.push_back(i);
            m[i % 100] += i;
        }
        for (int x : v) {
            sum += x;
        }
        std::printf("%ld %d %d\n", sum, m[7],
                    (int)(reinterpret_cast<std::uintptr_t>(v.data()) % 64));
    }
    {
        double total = 0;
        counted c(2.5);
        omp_allocator_handle_t a = chosen;
#pragma omp parallel num_threads(4) firstprivate(c) allocate(a : c) reduction(+ : total)
        total += c.value;
        std::printf("%.1f %d\n", total, counted::alive);
    }
    void *p = omp_alloc(100);
    void *q = omp_calloc(10, 10);
    p       = omp_realloc(p, 200);
    std::printf("%d %d %d\n", p != nullptr, q != nullptr, counted::alive);
    omp_free(p);
    omp_free(q);
    try {
        omp_alloctrait_t small[] = {{omp_atk_pool_size, 100}, {omp_atk_fallback, omp_atv_null_fb}};
        omp_allocator_handle_t old = chosen;
        chosen                     = omp_init_allocator(omp_default_mem_space, 2, small);
        try {
            std::vector<int, omp_memory<int>> v(100000);
            std::printf("no exception\n");
        } catch (const std::bad_alloc &) {
            std::printf("bad_alloc\n");
        }
        omp_destroy_allocator(chosen);
        chosen = old;
    } catch (...) {
        std::printf("other\n");
    }
    omp_destroy_allocator(chosen);
    return 0;
}
