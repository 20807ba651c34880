! SPDX-License-Identifier: BSD-3-Clause
! A second memspan_deallocate of a block: stat= has the error, and without it the program ends.
program twice
    use, intrinsic :: iso_c_binding
    use memspan
    implicit none
    real(c_double), pointer :: x(:), y(:)
    integer(c_int) :: status

    call memspan_allocate(x, [100], MEMSPAN_ALLOCATOR_DEFAULT)
    y => x
    call memspan_deallocate(x)
    call memspan_deallocate(y, status)
    if (status == MEMSPAN_OK .or. .not. associated(y)) error stop 2
    print "(a)", "stat"
    call memspan_deallocate(y)
    print "(a)", "silent"
end program
