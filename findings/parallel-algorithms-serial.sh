#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# std::execution::par of GCC runs on one thread where TBB's headers are not installed.
#
# Expected: a parallel algorithm uses the processors; what it needs and does not find is an error
# of the compiler or the linker.
# Seen: libstdc++ asks __has_include(<tbb/tbb.h>). With the header the program needs -ltbb
# (without it: undefined references). Without the header the same line compiles, links,
# needs no library and runs serially, without a warning under -Wall -Wextra. A container that
# has the runtime library but not libtbb-dev builds the slow program; nothing in it tells.
# #ifdef _PSTL_PAR_BACKEND_SERIAL after including <execution> finds out.
#
# Versions: Debian 13, g++-14 14.2.0-19, libtbb-dev 2022.1.0-1+deb13u1. The same with g++-16
# 16.2.0-4 of sid.
# Output: the lines of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='headers of TBB: several threads
no headers of TBB: 1 thread'

RUN=$(cat <<'END'
cd /tmp
cat >par.cc <<'C'
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <execution>
#include <mutex>
#include <set>
#include <thread>
#include <vector>
int main()
{
    std::vector<int> work(64);
    std::mutex mutex;
    std::set<std::thread::id> threads;
    std::for_each(std::execution::par, work.begin(), work.end(), [&](int &) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const std::lock_guard<std::mutex> guard(mutex);
        threads.insert(std::this_thread::get_id());
    });
    std::puts(threads.size() > 1 ? "several threads" : "1 thread");
}
C
g++-14 -Wall -Wextra par.cc -o par -ltbb
echo "headers of TBB: $(./par)"
rm -r /usr/include/tbb /usr/include/oneapi
g++-14 -Wall -Wextra par.cc -o par
echo "no headers of TBB: $(./par)"
END
)
export RUN
packages=base-files,dash,coreutils,g++-14=14.2.0-19,libtbb-dev=2022.1.0-1+deb13u1
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
