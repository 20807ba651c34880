! SPDX-License-Identifier: BSD-3-Clause
! memspan_allocate and memspan_deallocate: types, ranks, shapes of two kinds, failures.
program pointers
    use, intrinsic :: iso_c_binding
    use memspan
    implicit none
    type(memspan_allocator_h) :: allocator
    type(memspan_trait_t) :: traits(2)
    type(memspan_allocator_stats_t) :: stats
    real(c_double), pointer :: x(:), cube(:, :, :)
    real(c_float), pointer :: plane(:, :)
    integer(c_int64_t), pointer :: seven(:, :, :, :, :, :, :)
    integer(c_int8_t), pointer :: bytes(:)
    complex(c_double_complex), pointer :: waves(:, :)
    logical, pointer :: flags(:)
    logical(c_bool), pointer :: c_flags(:)
    integer(c_int) :: status
    integer :: i

    traits(1) = memspan_trait_t(MEMSPAN_TRAIT_POOL_SIZE, 1000000)
    traits(2) = memspan_trait_t(MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB)
    status = memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2_c_size_t, allocator)
    if (status /= MEMSPAN_OK) error stop 2

    call memspan_allocate(x, [1000], allocator, status)
    if (status /= MEMSPAN_OK .or. size(x) /= 1000 .or. lbound(x, 1) /= 1) error stop 3
    x = [(real(i, c_double), i=1, 1000)]
    call memspan_allocate(cube, [2_c_int64_t, 3_c_int64_t, 4_c_int64_t], allocator)
    if (any(shape(cube) /= [2, 3, 4])) error stop 4
    cube = 1
    call memspan_allocate(plane, [5, 7], allocator)
    call memspan_allocate(seven, [1, 2, 3, 1, 2, 3, 1], allocator)
    if (any(shape(seven) /= [1, 2, 3, 1, 2, 3, 1])) error stop 5
    call memspan_allocate(bytes, [3], allocator)
    call memspan_allocate(waves, [4, 4], allocator)
    waves = (1, 2)
    call memspan_allocate(flags, [9], allocator)
    flags = .true.
    call memspan_allocate(c_flags, [9], allocator)
    c_flags = .false._c_bool
    status = memspan_allocator_get_stats(allocator, stats)
    if (stats%live_bytes /= 8000 + 24 * 8 + 35 * 4 + 36 * 8 + 3 + 16 * 16 + 9 * kind(flags) + 9) &
        error stop 6
    if (stats%live_count /= 8 .or. sum(x) /= 500500 .or. sum(cube) /= 24) error stop 7

    ! Larger than pool_size; a product beyond 64 bits; an extent below zero, which is zero.
    call memspan_deallocate(cube)
    call memspan_allocate(cube, [1000, 1000, 1], allocator, status)
    if (associated(cube) .or. status /= MEMSPAN_ERR_LIMIT) error stop 8
    call memspan_allocate(cube, [4194304, 4194304, 4194304], allocator, status)
    if (associated(cube) .or. status == MEMSPAN_OK) error stop 9
    call memspan_allocate(cube, [2000000000, -1, 2000000000], allocator, status)
    if (status /= MEMSPAN_OK .or. .not. associated(cube) .or. size(cube) /= 0) error stop 10

    call memspan_deallocate(cube)
    call memspan_deallocate(x, status)
    if (status /= MEMSPAN_OK .or. associated(x)) error stop 11
    call memspan_deallocate(x, status) ! no effect
    if (status /= MEMSPAN_OK) error stop 12
    call memspan_deallocate(plane)
    call memspan_deallocate(seven)
    call memspan_deallocate(waves)
    call memspan_deallocate(flags)
    call memspan_deallocate(c_flags)
    status = memspan_allocator_get_stats(allocator, stats)
    if (stats%live_count /= 1) error stop 13
    bytes => bytes(2:3)
    call memspan_deallocate(bytes, status)
    if (status /= MEMSPAN_ERR_NOT_FOUND .or. .not. associated(bytes)) error stop 14
end program
