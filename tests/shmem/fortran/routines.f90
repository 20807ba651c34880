! SPDX-License-Identifier: BSD-3-Clause
! OpenSHMEM by its generic names: variables of a module are symmetric.
module symmetric
    use, intrinsic :: iso_c_binding
    implicit none
    real(c_double), save :: x(100) = 0
    complex(c_float_complex), save :: waves(3) = 0
    character(kind=c_char), save :: letters(5) = "-"
    integer(c_int64_t), save :: counter = 0, signal = 0
    integer(c_int), save :: words(4) = 0, total(1) = 0, one(1) = 1
    real(c_float), save :: most(2) = 0, mine(2) = 0
end module

program routines
    use, intrinsic :: iso_c_binding
    use shmem
    use symmetric
    implicit none
    type(shmem_ctx_t) :: ctx
    type(shmem_team_t) :: team
    integer(c_size_t), parameter :: two = 2, four = 4
    integer(c_int), pointer :: block(:)
    integer(c_size_t) :: indices(4)
    integer(c_int) :: me, pes, next
    type(c_ptr) :: address

    call shmem_init()
    me = shmem_my_pe()
    pes = shmem_n_pes()
    next = modulo(me + 1, pes)

    ! Puts and gets.
    call shmem_put(x, [1.0_c_double, 2.0_c_double], two, next)
    call shmem_put(letters(2:), ["a", "b"], two, next)
    call shmem_p(waves(1)%re, real(me, c_float), next)
    call shmem_barrier_all()
    call check(all(x(1:3) == [1, 2, 0]), "put")
    call check(all(letters == ["-", "a", "b", "-", "-"]), "put of characters")
    call check(waves(1) == cmplx(modulo(me - 1, pes), 0), "p")
    call shmem_iget(x(11:), x, 2_c_intptr_t, 1_c_intptr_t, two, next)
    call check(all(x(11:13) == [1, 0, 2]), "iget")
    call check(shmem_g(x(2), next) == 2, "g")

    ! A context of its own.
    call check(shmem_ctx_create(SHMEM_CTX_PRIVATE, ctx) == 0, "ctx_create")
    call check(ctx /= SHMEM_CTX_INVALID, "a context")
    call shmem_put_nbi(ctx, x(21:), x(1:2), two, next)
    call shmem_quiet(ctx)
    call shmem_ctx_destroy(ctx)
    call shmem_barrier_all()
    call check(all(x(21:22) == [1, 2]), "put_nbi of a context")

    ! Atomics.
    call shmem_atomic_add(counter, int(me + 1, c_int64_t), 0)
    call shmem_barrier_all()
    call check(shmem_atomic_fetch(counter, 0) == pes * (pes + 1) / 2, "atomic_add and fetch")
    call shmem_barrier_all()
    call check(shmem_atomic_fetch_inc(counter, next) >= 0, "atomic_fetch_inc")
    call shmem_atomic_or(words(1), 6, next)
    call shmem_barrier_all()
    call check(words(1) == 6, "atomic_or")
    call shmem_barrier_all()

    ! Signals, waits, tests.
    call shmem_put_signal(words, [2, 3, 4, 5], four, signal, 1_c_int64_t, SHMEM_SIGNAL_ADD, next)
    call check(shmem_signal_wait_until(signal, SHMEM_CMP_GE, 1_c_int64_t) == 1, "signal_wait_until")
    call check(all(words == [2, 3, 4, 5]), "put_signal")
    call shmem_wait_until_all(words, four, cmp=SHMEM_CMP_GT, cmp_value=1)
    call check(shmem_test_some(words, four, indices, [0, 0, 0, 1], SHMEM_CMP_GT, 2) == 2, "some")
    call check(all(indices(1:2) == [1, 2]), "its indices")

    ! Collectives over teams.
    mine = [me, -me]
    call check(shmem_sum_reduce(SHMEM_TEAM_WORLD, total, one, 1_c_size_t) == 0, "sum_reduce")
    call check(total(1) == pes, "the sum")
    call check(shmem_max_reduce(SHMEM_TEAM_WORLD, most, mine, two) == 0, "max_reduce")
    call check(all(most == [pes - 1, 0]), "the maximum")
    call check(shmem_team_split_strided(SHMEM_TEAM_WORLD, me, 1, 1, config_mask=0_c_long, &
        new_team=team) == 0, "team_split_strided")
    call check(shmem_team_n_pes(team) == 1 .and. team /= SHMEM_TEAM_WORLD, "a team of one PE")
    call shmem_team_destroy(team)

    ! The heap.
    address = shmem_malloc(400_c_size_t)
    call c_f_pointer(address, block, [100])
    block = me
    call shmem_barrier_all()
    call check(shmem_g(block(100), next) == next, "g of the heap")
    call shmem_barrier_all()
    call shmem_free(address)
    call shmem_finalize()

contains

    subroutine check(is_so, what)
        logical, intent(in) :: is_so
        character(len=*), intent(in) :: what
        if (is_so) return
        print "(a,i0,2a)", "PE ", me, ": ", what
        call shmem_global_exit(1)
    end subroutine
end program
