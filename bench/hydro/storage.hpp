/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYDRO_STORAGE_HPP
#define MEMSPAN_BENCH_HYDRO_STORAGE_HPP

/* Arrays of the mini-app, each with a name by which the command line places it. The two programs
 * differ here alone: placed.cpp takes memory from OpenMP's allocators, plain.cpp from new. */

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace storage
{

/* Take "SPACE" (for all arrays) or "ARRAY=SPACE". False when it is not understood. */
bool place(const std::string &word);

/* What may follow --place; "" when nothing may. */
const char *usage();

/* The name of a place()d array that no array has had so far; nullptr: there is none. */
const char *unknown_array();

/* @p size_bytes for the array @p name, not touched yet; nullptr where there is no memory. */
void *allocate(const char *name, std::size_t size_bytes);
void release(void *address);

template <class T> class Array
{
  public:
    Array(const char *name, std::size_t count)
        : count_(count), elements_(static_cast<T *>(allocate(name, count * sizeof(T))))
    {
        if (elements_ == nullptr) {
            std::fprintf(stderr, "no memory for %zu bytes of %s\n", count * sizeof(T), name);
            std::exit(1);
        }
    }
    Array(const Array &)            = delete;
    Array &operator=(const Array &) = delete;
    ~Array()
    {
        release(elements_);
    }

    T &operator[](std::size_t index)
    {
        return elements_[index];
    }
    const T &operator[](std::size_t index) const
    {
        return elements_[index];
    }
    std::size_t count() const
    {
        return count_;
    }

  private:
    std::size_t count_;
    T *elements_;
};

} // namespace storage

#endif /* MEMSPAN_BENCH_HYDRO_STORAGE_HPP */
