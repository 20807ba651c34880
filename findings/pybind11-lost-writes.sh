#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A pybind11 function that changes its array leaves an array of another type as it was.
#
# Expected: a function of C++ that takes py::array_t<double> and doubles its elements refuses
# what it cannot change in place, as it refuses a read-only array.
# Seen: pybind11 converts each array of another type into a temporary of doubles; the function
# doubles that one. float32, integers, doubles of the other byte order and lists come back
# unchanged, without an error or a warning, while a strided array of doubles is doubled. An
# array of float32 in a model of doubles keeps its old values. noconvert() makes it a TypeError.
#
# Versions: Debian 13, pybind11-dev 2.13.6-2, python3-numpy 1:2.2.4+ds-1, python3.13
# 3.13.5-2+deb13u5, g++-14 14.2.0-19.
# Output: the lines of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='float64, every second element: doubled
float64, read-only: ValueError
float32: unchanged
float64 of the other byte order: unchanged
float32, noconvert: TypeError'

RUN=$(cat <<'END'
cd /tmp
cat >inplace.cc <<'C'
#include <pybind11/numpy.h>
namespace py = pybind11;
static void twice(py::array_t<double> array)
{
    auto element = array.mutable_unchecked<1>();
    for (py::ssize_t i = 0; i < element.shape(0); i++)
        element(i) *= 2;
}
PYBIND11_MODULE(inplace, module)
{
    module.def("twice", &twice);
    module.def("strict", &twice, py::arg("array").noconvert());
}
C
cat >run.py <<'P'
import inplace, numpy

def show(name, array, call=inplace.twice):
    try:
        call(array)
        print(f"{name}: {'doubled' if (array == 2).all() else 'unchanged'}")
    except Exception as error:
        print(f"{name}: {type(error).__name__}")

show("float64, every second element", numpy.ones(8)[::2])
show("float64, read-only", numpy.broadcast_to(1.0, 4))
show("float32", numpy.ones(4, "f4"))
show("float64 of the other byte order", numpy.ones(4, numpy.dtype("f8").newbyteorder("S")))
show("float32, noconvert", numpy.ones(4, "f4"), inplace.strict)
P
g++-14 -shared -fPIC -I/usr/include/python3.13 inplace.cc -o inplace.so
# The links to BLAS and LAPACK that a complete installation has.
LD_LIBRARY_PATH=$(echo /usr/lib/*/blas):$(echo /usr/lib/*/lapack)
export LD_LIBRARY_PATH
PYTHONPATH=. python3.13 run.py
END
)
export RUN
packages=base-files,dash,coreutils,g++-14=14.2.0-19,pybind11-dev=2.13.6-2,libpython3.13-dev
packages=$packages,python3.13=3.13.5-2+deb13u5,python3-numpy=1:2.2.4+ds-1,libblas3,liblapack3
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
