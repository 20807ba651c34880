! SPDX-License-Identifier: BSD-3-Clause
! Heat on a square: each PE has some columns, and puts its outer ones into the halo of its
! neighbours with a signal. Two buffers: a neighbour that is a step ahead writes into the other one.
! The result equals the serial one, bit by bit.
module halo
    use, intrinsic :: iso_c_binding
    implicit none
    integer(c_int64_t), save :: arrived(2) = 0 ! steps of the neighbour on the left, on the right
    integer(c_int), save :: wrong(1) = 0, sum_of_wrong(1) = 0
end module

program stencil
    use, intrinsic :: iso_c_binding
    use shmem
    use halo
    implicit none
    integer, parameter :: n = 48, steps = 60
    integer(c_size_t), parameter :: rows = n + 2
    real(c_double), pointer, contiguous :: u(:, :, :)
    real(c_double) :: serial(0:n + 1, 0:n + 1, 0:1)
    integer :: me, pes, first, last, columns, most, step, now, i
    type(c_ptr) :: address

    call shmem_init()
    me = shmem_my_pe()
    pes = shmem_n_pes()
    first = me * n / pes + 1
    last = (me + 1) * n / pes
    columns = last - first + 1
    most = (n + pes - 1) / pes + 1
    address = shmem_malloc(rows * (most + 2) * 2 * c_sizeof(0.0_c_double))
    ! The halo: rows 1 and n + 2, columns 1 and columns + 2.
    call c_f_pointer(address, u, [n + 2, most + 2, 2])

    call start(serial)
    do i = 0, 1
        u(:, 1:columns + 2, i + 1) = serial(:, first - 1:last + 1, 0)
    end do
    call shmem_barrier_all()

    do step = 1, steps
        now = mod(step, 2) + 1
        call shmem_fence() ! a step is not counted before the one before it
        call relax(u(:, 1:columns + 2, 3 - now), u(:, 1:columns + 2, now))
        if (me > 0) call shmem_put_signal(u(:, width(me - 1) + 2, now), u(:, 2, now), &
            rows, arrived(2), 1_c_int64_t, SHMEM_SIGNAL_ADD, me - 1)
        if (me < pes - 1) call shmem_put_signal(u(:, 1, now), u(:, columns + 1, now), &
            rows, arrived(1), 1_c_int64_t, SHMEM_SIGNAL_ADD, me + 1)
        if (me > 0) call wait_for(arrived(1), step)
        if (me < pes - 1) call wait_for(arrived(2), step)
    end do

    do step = 1, steps
        now = mod(step, 2)
        call relax(serial(:, :, 1 - now), serial(:, :, now))
    end do
    wrong = count(u(:, 2:columns + 1, mod(steps, 2) + 1) /= serial(:, first:last, mod(steps, 2)))
    if (shmem_sum_reduce(SHMEM_TEAM_WORLD, sum_of_wrong, wrong, 1_c_size_t) /= 0) &
        call shmem_global_exit(2)
    if (sum_of_wrong(1) /= 0 .or. maxval(serial(1:n, 1:n, 0)) < 0.1) then
        print "(a,i0,a,i0,a)", "PE ", me, ": ", wrong(1), " points differ from the serial result"
        call shmem_global_exit(1)
    end if
    call shmem_free(address)
    call shmem_finalize()

contains

    integer function width(pe)
        integer, intent(in) :: pe
        width = (pe + 1) * n / pes - pe * n / pes
    end function

    ! Warm at one side and in a point of its own.
    subroutine start(square)
        real(c_double), intent(out) :: square(0:, 0:, 0:)
        square = 0
        square(0, :, :) = 1
        square(n / 3, n / 2, 0) = 100
    end subroutine

    subroutine relax(from, to)
        real(c_double), intent(in) :: from(:, :)
        real(c_double), intent(inout) :: to(:, :)
        integer :: row, column
        do column = 2, size(from, 2) - 1
            do row = 2, size(from, 1) - 1
                to(row, column) = 0.25 * (from(row - 1, column) + from(row + 1, column) &
                    + from(row, column - 1) + from(row, column + 1))
            end do
        end do
    end subroutine

    subroutine wait_for(count_of, step)
        integer(c_int64_t), intent(inout) :: count_of
        integer, intent(in) :: step
        if (shmem_signal_wait_until(count_of, SHMEM_CMP_GE, int(step, c_int64_t)) < step) &
            call shmem_global_exit(3)
    end subroutine
end program
