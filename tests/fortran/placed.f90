! SPDX-License-Identifier: BSD-3-Clause
! placed placed|fixed|refused [HINT]: memspan_place where the compiler's allocate can take memory from
! an allocator (flang's, placed.sh), with reallocation by assignments or without and on the boundary
! that the compiler promises itself; or its refusal, whose hint has the word HINT.
module places
    use, intrinsic :: iso_c_binding
    use memspan
    implicit none
    real(c_float), allocatable :: kept(:)
    character(len=32) :: mode
contains

    subroutine check(is_so, what)
        logical, intent(in) :: is_so
        character(len=*), intent(in) :: what
        if (is_so) return
        print "(3a)", what, ": ", memspan_string(memspan_error_text())
        error stop 1
    end subroutine

    function made(text) result(allocator)
        character(len=*), intent(in) :: text
        type(memspan_allocator_h) :: allocator
        type(memspan_trait_t) :: traits(4)
        integer(c_size_t) :: count
        integer(c_int) :: status
        status = memspan_trait_parse(text // c_null_char, traits, 4_c_size_t, count)
        status = memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, count, allocator)
        call check(status == MEMSPAN_OK, "an allocator")
    end function

    function live(allocator) result(bytes)
        type(memspan_allocator_h), intent(in) :: allocator
        integer(c_int64_t) :: bytes
        type(memspan_allocator_stats_t) :: stats
        call check(memspan_allocator_get_stats(allocator, stats) == MEMSPAN_OK, "counters")
        bytes = stats%live_bytes
    end function

    ! Allocation, reallocation by assignment, move_alloc, source=, and the end of the scope.
    subroutine statements(allocator)
        type(memspan_allocator_h), intent(in) :: allocator
        real(c_double), allocatable, target :: x(:)
        real(c_double), allocatable :: y(:), z(:)
        integer(c_int8_t), allocatable :: cube(:, :, :)
        complex(c_float_complex), allocatable :: one
        integer(c_int) :: status
        integer :: stat
        call memspan_place(x, allocator, status)
        call check(status == MEMSPAN_OK, "an array")
        call memspan_place(cube, allocator)
        call memspan_place(one, allocator)
        call check(live(allocator) == 0, "no memory before allocate")
        allocate(x(1000), cube(2, 3, 4))
        allocate(one, stat=stat)
        call check(stat == 0 .and. live(allocator) == 8032, "allocate")
        x = 2
        if (mode == "fixed") then
            call check(iand(transfer(c_loc(x), 0_c_intptr_t), 63_c_intptr_t) == 0, "64 bytes")
            deallocate(x)
            allocate(x(1001))
            x(:1000) = 2
            x(1001) = 3
        else
            x = [x, 3d0]
        end if
        call check(size(x) == 1001 .and. live(allocator) == 8040, "reallocation")
        x = x(1001:1:-1)
        call check(nint(x(1)) == 3 .and. live(allocator) == 8040, "assignment to itself")
        allocate(y, source=x)
        call check(live(allocator) == 8040, "an array that is not placed")
        call move_alloc(x, z)
        call check(nint(sum(z)) == 2003 .and. live(allocator) == 8040, "move_alloc")
        deallocate(z)
        call check(live(allocator) == 32, "deallocate")
        allocate(x(5), source=1d0)
        call check(nint(sum(x)) == 5 .and. live(allocator) == 72, "allocated again")
        call memspan_place(x, allocator, status)
        call check(status == MEMSPAN_ERR_INVALID, "an array that is allocated")
        deallocate(x)
        allocate(x(2**18), stat=stat)
        call check(stat /= 0 .and. .not. allocated(x), "more than the allocator has")
        allocate(x(10))
    end subroutine

    ! An entry of the runtime for each allocator, and those of destroyed ones again.
    subroutine many()
        type(memspan_allocator_h) :: allocators(8)
        real(c_float), allocatable :: x(:)
        integer(c_int) :: status(8)
        integer :: i
        do i = 1, 8
            allocators(i) = made("pool_size=64k")
            call memspan_place(x, allocators(i), status(i))
        end do
        call check(count(status == MEMSPAN_OK) == 4, "four beside the first")
        call check(all(status(5:) == MEMSPAN_ERR_LIMIT), "no more than the runtime has room for")
        call memspan_place(x, allocators(2), status(1))
        call check(status(1) == MEMSPAN_OK, "an allocator that has its entry")
        status(1) = memspan_allocator_destroy(allocators(3))
        call memspan_place(x, allocators(7), status(7))
        call check(status(7) == MEMSPAN_OK, "the entry of a destroyed allocator")
        allocate(x(100))
        call check(live(allocators(7)) == 400, "its memory")
        call memspan_place(kept, allocators(3), status(3))
        call check(status(3) == MEMSPAN_ERR_NOT_FOUND, "a destroyed allocator")
    end subroutine
end module

program placed
    use places
    implicit none
    type(memspan_allocator_h) :: allocator
    type(memspan_error_t), pointer :: error
    integer(c_int), allocatable :: x(:)
    integer(c_int) :: status
    character(len=32) :: hint
    call get_command_argument(1, mode)
    call get_command_argument(2, hint)
    allocator = made("pool_size=1m,fallback=null_fb")
    if (mode == "refused") then
        call memspan_place(x, allocator, status)
        call check(status == MEMSPAN_ERR_UNSUPPORTED, "the refusal")
        call c_f_pointer(memspan_error_last(), error)
        call check(index(memspan_string(error%hint), trim(hint)) > 0, "its remedy")
        allocate(x(10))
        x = [x, 1_c_int]
        call check(live(allocator) == 0, "memory of malloc")
    else
        call statements(allocator)
        call check(live(allocator) == 0, "memory after the scope's end")
        call memspan_place(kept, allocator)
        allocate(kept(10))
        call check(live(allocator) == 40, "a module's variable")
        call many()
    end if
end program
