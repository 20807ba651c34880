// SPDX-License-Identifier: BSD-3-Clause
// news.cpp: an array that a container allocates, and blocks of every form of new, delete, malloc()
// and free() beside each other.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

struct alignas(128) wide {
    char bytes[256 << 10];
};

extern "C" __attribute__((noinline, visibility("default"))) double
grow_all(std::vector<double> &all)
{
    double sum = 0;

    all.reserve(4 << 20);
    for (int i = 0; i < 4 << 20; i++) {
        all.push_back(i);
    }
    for (int round = 0; round < 5; round++) {
        for (double x : all) {
            sum += x;
        }
    }
    return sum;
}

static bool mix()
{
    bool good = true;

    for (int i = 1; i < 100; i++) {
        std::size_t size = static_cast<std::size_t>(i) * 997;
        std::unique_ptr<char[]> array(new char[size]);
        char *single  = new (std::nothrow) char(1);
        wide *aligned = new wide;
        wide *several = new (std::nothrow) wide[2];
        char *taken   = static_cast<char *>(std::malloc(size));
        void *raw     = ::operator new(size);
        void *moved   = nullptr;

        std::memset(array.get(), i, size);
        std::memset(taken, i, size);
        taken = static_cast<char *>(std::realloc(taken, 2 * size));
        good  = good && (taken[size - 1] == static_cast<char>(i)) && (single != nullptr) &&
               (reinterpret_cast<std::size_t>(aligned) % 128 == 0) && (several != nullptr) &&
               (posix_memalign(&moved, 4096, size) == 0);
        std::free(moved);
        std::free(taken);
        std::free(strdup(std::string(size, 'x').c_str()));
        ::operator delete(raw, size);
        delete[] several;
        delete aligned;
        delete single;
    }
    return good;
}

int main()
{
    std::vector<double> all;
    bool failed = false;

    try {
        (void)::operator new(static_cast<std::size_t>(1) << 62);
    } catch (const std::bad_alloc &) {
        failed = true;
    }
    std::printf("%g\n", grow_all(all));
    return (failed && mix()) ? EXIT_SUCCESS : EXIT_FAILURE;
}
