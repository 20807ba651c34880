! SPDX-License-Identifier: BSD-3-Clause
! memspan_place that fails: stat= has the error, and without it the program ends. A variable that has
! memory is refused by every compiler.
program place_fails
    use, intrinsic :: iso_c_binding
    use memspan
    implicit none
    real(c_double), allocatable :: x(:)
    integer(c_int) :: status

    allocate(x(100))
    call memspan_place(x, MEMSPAN_ALLOCATOR_DEFAULT, status)
    if (status == MEMSPAN_OK) error stop 2
    print "(a)", "stat"
    call memspan_place(x, MEMSPAN_ALLOCATOR_DEFAULT)
    print "(a)", "silent"
end program
