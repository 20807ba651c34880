/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.cpp: arrays from new, as programs have them that know nothing of memory spaces. */

#include "bench/hydro/storage.hpp"
#include <new>

namespace storage
{

bool place(const std::string &)
{
    return false;
}

const char *usage()
{
    return "";
}

const char *unknown_array()
{
    return nullptr;
}

void *allocate(const char *, std::size_t size_bytes)
{
    return ::operator new(size_bytes, std::nothrow);
}

void release(void *address)
{
    ::operator delete(address);
}

} // namespace storage
