/* SPDX-License-Identifier: BSD-3-Clause */
/* placed.cpp: arrays from the predefined allocators of OpenMP 5.0. */

#include "bench/hydro/storage.hpp"
#include <map>
#include <omp.h>
#include <set>

namespace
{

const std::map<std::string, omp_allocator_handle_t> spaces = {
    {"default", omp_default_mem_alloc},
    {"high_bw", omp_high_bw_mem_alloc},
    {"large_cap", omp_large_cap_mem_alloc},
    {"low_lat", omp_low_lat_mem_alloc},
};

std::map<std::string, omp_allocator_handle_t> placements;        /* by array */
std::set<std::string> allocated;                                 /* arrays */
omp_allocator_handle_t placement_of_all = omp_default_mem_alloc; /* of those not named */

} // namespace

namespace storage
{

bool place(const std::string &word)
{
    const auto equals = word.find('=');
    const auto space  = spaces.find(equals == std::string::npos ? word : word.substr(equals + 1));

    if (space == spaces.end()) {
        return false;
    }
    if (equals == std::string::npos) {
        placement_of_all = space->second;
    } else {
        placements[word.substr(0, equals)] = space->second;
    }
    return true;
}

const char *usage()
{
    return "  --place [ARRAY=]SPACE  memory of an array, or of all others: default, high_bw,\n"
           "                         large_cap, low_lat (any number of times)\n";
}

const char *unknown_array()
{
    for (const auto &placement : placements) {
        if (allocated.count(placement.first) == 0) {
            return placement.first.c_str();
        }
    }
    return nullptr;
}

void *allocate(const char *name, std::size_t size_bytes)
{
    const auto placement = placements.find(name);

    allocated.insert(name);
    return omp_alloc(size_bytes,
                     placement == placements.end() ? placement_of_all : placement->second);
}

void release(void *address)
{
    omp_free(address, omp_null_allocator);
}

} // namespace storage
