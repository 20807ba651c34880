#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# numpy.zeros() asks for huge pages: a sparse table takes 512 times the memory it uses.
#
# Expected: zeros() is calloc(): a page of 4 KiB becomes memory when it is first written, and
# with "madvise" in transparent_hugepage/enabled no array has huge pages unasked.
# Seen: NumPy itself gives madvise(MADV_HUGEPAGE) for each array of 4 MiB and more; its mapping
# has the flag "hg" in /proc/self/smaps. With huge pages set to madvise, one byte written in
# each 2 MiB of a table of 512 MiB makes 522,240 kB resident; with NUMPY_MADVISE_HUGEPAGE=0 it
# is 1,024 kB. A hash table or a mostly empty grid that fits as C does not fit as NumPy, and the
# memory limit of a container ends it.
#
# Versions: Debian 13, python3-numpy 1:2.2.4+ds-1. The same with 1:2.4.6+ds-5+b1 of sid.
# Output: the lines of "want" below (the flag, which does not depend on the kernel's setting).
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid); a kernel that has
# transparent huge pages.
set -eu
want='NUMPY_MADVISE_HUGEPAGE unset: huge pages asked for
NUMPY_MADVISE_HUGEPAGE=0: not asked for
bytearray: not asked for'

RUN=$(cat <<'END'
cd /tmp
cat >zeros.py <<'P'
import ctypes
import sys

size = 512 << 20
if sys.argv[1] == "numpy":
    import numpy

    table = numpy.zeros(size, numpy.uint8)
    address = table.__array_interface__["data"][0]
else:
    table = bytearray(size)
    address = ctypes.addressof(ctypes.c_char.from_buffer(table))
middle = address + size // 2
inside = False
for line in open("/proc/self/smaps"):
    field = line.split()
    if not field[0].endswith(":"):
        first, last = (int(part, 16) for part in field[0].split("-"))
        inside = first <= middle < last
    elif inside and field[0] == "VmFlags:":
        print("huge pages asked for" if "hg" in field else "not asked for")
P
# The links to BLAS and LAPACK that a complete installation has.
LD_LIBRARY_PATH=$(echo /usr/lib/*/blas):$(echo /usr/lib/*/lapack)
export LD_LIBRARY_PATH
echo "NUMPY_MADVISE_HUGEPAGE unset: $(env -u NUMPY_MADVISE_HUGEPAGE python3.13 zeros.py numpy)"
echo "NUMPY_MADVISE_HUGEPAGE=0: $(NUMPY_MADVISE_HUGEPAGE=0 python3.13 zeros.py numpy)"
echo "bytearray: $(python3.13 zeros.py plain)"
END
)
export RUN
packages=base-files,dash,coreutils,python3.13,python3-numpy=1:2.2.4+ds-1,libblas3,liblapack3
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
