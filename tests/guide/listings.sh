#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# listings.sh PAGE INCLUDE [COMPILER...]: what the page on the papers' listings says of each compiler is so. The programs
# here have the constructs of a listing in other words; those of "instead" are what the page has users write.
set -eu
page=$1 include=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
bad=0 tried=0

# compiles COMPILER FILE: c++ where the file is one.
compiles() {
    language=c
    [ "${2%.cpp}" = "$2" ] || language=c++
    "$1" -fopenmp -Werror=implicit-function-declaration -fsyntax-only -x "$language" -I "$include" "$2" >"$work/log" 2>&1
}

# judge EXPECTED COMPILER FILE WHAT
judge() {
    found=no
    ! compiles "$2" "$3" || found=yes
    [ "$found" = "$1" ] && return
    echo "$4: $2 says $found, and the page $1"
    cat "$work/log"
    bad=1
}

# listing ROW [SUFFIX [WORD]]: the program on standard input, against the row of the page; WORD is in each refusal.
listing() {
    file=$work/listing.${2:-c}
    cat >"$file"
    row=$(grep -F "| $1 |" "$page") || { echo "$1 is not on the page"; bad=1; return; }
    echo "$1" >>"$work/listings"
    for compiler in $compilers; do
        column=4
        [ "${compiler#*clang}" = "$compiler" ] || column=5
        judge "$(echo "$row" | cut -d'|' -f$column | tr -d ' ')" "$compiler" "$file" "$1"
        [ -z "${3-}" ] || grep -q "error:.*$3" "$work/log" || { echo "$1: $compiler refuses something else"; cat "$work/log"; bad=1; }
    done
}

instead() {
    file=$work/instead.${2:-c}
    cat >"$file"
    for compiler in $compilers; do
        judge yes "$compiler" "$file" "$1, as the page has it"
    done
}

compilers=
printf '#include <omp.h>\n' >"$work/probe.c"
for compiler; do
    case "$compilers $compiler" in *clang*clang*) continue ;; esac # the first that is here
    ! compiles "$compiler" "$work/probe.c" || compilers="$compilers $compiler"
done
[ -n "$compilers" ] || { echo 'SKIP no compiler with OpenMP'; exit 77; }

listing 'proposal 4.1' <<'C'
#include <memspan/omp.h>
omp_allocator_handle_t make(int count, int *dev_nums)
{
    omp_memspace_handle_t *space = omp_get_target_memspace(count, dev_nums, omp_default_mem_space);
    return (space == 0) ? omp_null_allocator : omp_init_allocator(*space, 0, 0);
}
C
cat >"$work/traits" <<'C'
#include <memspan/omp.h>
omp_alloctrait_t traits[] = {{.key = preferred_location, .value = 0}, {.key = preferred_place, .value = 1}};
omp_alloctrait_t access[] = {{.key = memory_access, .value = managed}, {.key = memory_access, .value = coherent}};
C
listing 'proposal 4.3' c preferred_location <"$work/traits"
{ echo '#define MEMSPAN_OMP_PAPER_NAMES'; cat "$work/traits"; } | instead 'proposal 4.3'
listing 'proposal 1.1' <<'C'
void daxpy(int n, double a, double *x, double *y, double *z)
{
#pragma omp target map(to : x[0 : n], y[0 : n], n, a) map(tofrom : z[0 : n])
#pragma omp teams distribute parallel for simd
    for (int i = 0; i < n; i++) {
        z[i] += a * x[i] + y[i];
    }
}
C
listing 'MPC 1.1' <<'C'
#include <memspan/omp.h>
void *take(size_t size)
{
    omp_memspace_handle_t fast = omp_high_bw_mem_space;
    omp_alloctrait_t traits[1] = {omp_atk_alignment, 64};
    return omp_alloc(size, omp_init_allocator(fast, 1, traits));
}
void give(void **ptr, omp_allocator_handle_t from)
{
    omp_free(*ptr, from);
    *ptr = 0;
}
C
listing 'MPC 1.2' c priva <<'C'
#include <memspan/omp.h>
float B[100];
void work(float *);
void start(void)
{
#pragma omp parallel
#pragma omp task allocate(omp_const_mem_alloc : B)
    work(B);
}
C
instead 'MPC 1.2' <<'C'
#include <memspan/omp.h>
void work(float *);
void start(void)
{
    float B[100] = {0};
#pragma omp parallel
#pragma omp task firstprivate(B) allocate(omp_const_mem_alloc : B)
    work(B);
}
C
listing 'MPC 1.3' cpp pointer <<'C'
#include <memspan/omp.h>
#include <vector>
template <typename T> class of_omp
{
public:
    omp_allocator_handle_t &from;
    of_omp(omp_allocator_handle_t &handle) : from(handle) {}
    pointer allocate(size_type n, const T * = 0) { return (T *)omp_alloc(sizeof(T) * n, from); }
    void deallocate(pointer p, size_type) { omp_free(p, from); }
};
void use(omp_allocator_handle_t from) { std::vector<double, of_omp<double>> x(10, 0., of_omp<double>(from)); }
C
instead 'MPC 1.3' cpp <<'C'
#include <memspan/memspan.hpp>
#include <vector>
void use(const memspan::allocator<double> &from) { std::vector<double, memspan::allocator<double>> x(10, 0., from); }
C
listing 'MPC 6' <<'C'
void work(float *);
void start(float *A)
{
#pragma omp task affinity(A[0 : 100])
    work(A);
}
C
listing 'Intel' <<'C'
#include <memspan/omp.h>
omp_allocator_handle_t make(int which)
{
    omp_allocator_handle_t made[] = {omp_target_host_mem_alloc, omp_target_shared_mem_alloc, omp_target_device_mem_alloc,
                                     omp_init_allocator(omp_target_host_mem_space, 0, 0),
                                     omp_init_allocator(omp_target_shared_mem_space, 0, 0),
                                     omp_init_allocator(omp_target_device_mem_space, 0, 0)};
    return made[which];
}
C
listing 'Cray' <<'C'
#include <shmem.h>
void *take(int id) { return id ? shmem_partition_malloc(100, id) : shmem_partition_align(4096, 100, 1); }
C
listing 'Stony Brook 1' <<'C'
#include <shmem.h>
void exchange(float *X, float *U, float *V, int n, uint64_t *sig, float *pwrk, long *psync)
{
#pragma omp target data map(tofrom : X[0 : n]) map(from : U[0 : n], V[0 : n])
    {
#pragma omp target update from(X[0 : n])
        shmem_float_put_signal(X, X, n, sig, 1, SHMEM_SIGNAL_SET, 1);
        shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 1);
#pragma omp target update to(X[0 : n])
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++) {
            V[i] = X[i];
        }
#pragma omp target update from(V[0 : n])
        shmem_float_sum_to_all(U, V, n, 0, 0, 2, pwrk, psync);
#pragma omp target update to(U[0 : n])
    }
}
C
listing 'Stony Brook 2' <<'C'
#include <omp.h>
#include <stdio.h>
void add(float *A, int n)
{
    float *B = omp_target_alloc(n * sizeof(float), 0);
#pragma omp target data map(tofrom : A[0 : n])
    {
#pragma omp target teams distribute parallel for is_device_ptr(B)
        for (int i = 0; i < n; i++) {
            A[i] += B[i];
        }
#pragma omp target data use_device_ptr(A)
        printf("%p\n", (void *)A);
    }
    omp_target_free(B, 0);
}
C
listing 'Stony Brook 3' <<'C'
#include <shmem.h>
void *shmem_partition_malloc(size_t size, int id);
C
listing 'Stony Brook 4' c uses_allocators <<'C'
#include <memspan/omp.h>
#include <shmem.h>
void exchange(float *X, int n, omp_allocator_handle_t from)
{
#pragma omp target data map(tofrom : X[0 : n]) uses_allocators(from) allocator(from : X)
    {
#pragma omp target data use_device_ptr(X)
        shmem_float_put(X, X, n, 1);
    }
}
C
instead 'Stony Brook 4' <<'C'
#include <memspan/omp.h>
#include <shmem.h>
void exchange(float *X, int n)
{
    (void)memspan_map_symmetric(X, n * sizeof(*X));
#pragma omp target data map(tofrom : X[0 : n])
    {
#pragma omp target data use_device_ptr(X)
        shmem_float_put(X, X, n, 1);
    }
}
C
listing 'Stony Brook 5' <<'C'
#include <shmem.h>
uint64_t change(uint64_t);
void update(uint64_t *table, int pe)
{
#pragma omp target data use_device_ptr(table)
    {
        uint64_t v = change(shmem_uint64_g(table, pe));
        shmem_uint64_p(table, v, pe);
    }
}
C
tried=$(sort -u "$work/listings" | wc -l)
rows=$(grep -c '^| .* | \(yes\|no\) | \(yes\|no\) |' "$page")
[ "$tried" = "$rows" ] || { echo "$tried listings, and $rows rows on the page"; bad=1; }
exit $bad
