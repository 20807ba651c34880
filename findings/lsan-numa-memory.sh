#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# LeakSanitizer reports blocks as leaked whose pointers lie in memory of libnuma.
#
# Expected: a block that a live pointer leads to is no leak, wherever that pointer is.
# Seen: LeakSanitizer looks at stacks, globals and blocks of malloc. A mapping that the program
# made itself is none of them: a table in memory of numa_alloc_local() (MPI windows, shared
# memory, pinned memory of a driver alike) leads to nothing. The program is right and ends with
# an error status, after a report that names malloc's line and not the reason. With the table in
# memory of malloc the same program ends with 0. __lsan_register_root_region() on
# the mapping helps; switching leak detection off hides the true ones too.
#
# Versions: Debian 13, gcc-14 14.2.0-19, clang-19 1:19.1.7-3+b1, libnuma-dev 2.0.19-1.
# Output: the lines of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='gcc-14, table of malloc: fine
gcc-14, table of numa_alloc_local: leaks
clang-19, table of malloc: fine
clang-19, table of numa_alloc_local: leaks'

RUN=$(cat <<'END'
cd /tmp
cat >table.c <<'C'
#include <numa.h>
#include <stdlib.h>
static char **table;
int main(int argc, char **argv)
{
    (void)argv;
    table = argc > 1 ? numa_alloc_local(4096) : malloc(4096);
    if (table == NULL)
        return 1;
    /* The table leads to the blocks, and a global to the table. */
    for (int i = 0; i < 10; i++)
        table[i] = malloc(100);
    return table[9] == NULL;
}
C
verdict() {
    if "$@" 2>report; then echo fine; else grep -q 'Direct leak of' report && echo leaks; fi
}
for compiler in gcc-14 clang-19; do
    $compiler -g -fsanitize=address table.c -o table -lnuma
    echo "$compiler, table of malloc: $(verdict ./table)"
    echo "$compiler, table of numa_alloc_local: $(verdict ./table numa)"
done
END
)
export RUN
packages=base-files,dash,coreutils,grep,gcc-14=14.2.0-19,clang-19=1:19.1.7-3+b1
packages=$packages,libclang-rt-19-dev=1:19.1.7-3+b1,libnuma-dev=2.0.19-1
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
