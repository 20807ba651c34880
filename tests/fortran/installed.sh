#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# installed.sh PREFIX COMPILER PAGE: the programs of the manual page, by its commands and by CMake, with the
# modules that are installed; the prefix is moved first.
set -eu
prefix=$1 compiler=$2 page=$3
command -v pkg-config >/dev/null || { echo 'skip: pkg-config is not here'; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
cp -R "$prefix" "$scratch/moved"
prefix=$scratch/moved
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name memspan.pc)")
export PKG_CONFIG_PATH
mkdir "$scratch/bin" "$scratch/work"
ln -s "$compiler" "$scratch/bin/gfortran"
PATH=$scratch/bin:$PATH
cd "$scratch/work"

plain() {
    sed -e 's/\\-/-/g' -e 's/\\e/\\/g' -e "s/\\\\(dq/\"/g" "$page"
}
for name in example ring; do
    plain | sed -n "/^program $name\$/,/^end program/p" >"$name.f90"
    plain | sed -n '/^\.B "gfortran/,/^\.fi/s/^\.B "\(.*\)"$/\1/p' >commands
done
sh -eu ./commands
said=$(./example)
[ "$said" = 10000.0 ] || { echo "example: $said"; exit 1; }
"$prefix/bin/oshrun" -n 2 ./ring | sort >said
printf '0 is after 1\n1 is after 0\n' | diff - said

cat >CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES Fortran)
find_package(memspan CONFIG REQUIRED)
add_executable(example ${memspan_FORTRAN_DIR}/memspan.f90 example.f90)
target_link_libraries(example PRIVATE memspan::memspan)
TEXT
cmake -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_Fortran_COMPILER="$compiler" >log 2>&1 &&
    cmake --build build >>log 2>&1 || { cat log; exit 1; }
[ "$(build/example)" = "$said" ]
