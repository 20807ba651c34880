! SPDX-License-Identifier: BSD-3-Clause
! The names that omp_lib of GCC 12 lacks, beside those that it has: a newer omp_lib has some of them
! too, and is used with "only:".
program openmp
    use, intrinsic :: iso_c_binding
    use omp_lib, only: omp_alloc, omp_allocator_handle_kind, omp_alloctrait, &
        omp_default_mem_space, omp_destroy_allocator, omp_free, omp_get_initial_device, &
        omp_init_allocator, omp_large_cap_mem_space, omp_memspace_handle_kind, omp_null_allocator
    use memspan, only: MEMSPAN_OK, memspan_error_text, memspan_pointer_describe, &
        memspan_pointer_info_t, memspan_string
    use memspan_omp
    implicit none
    integer(omp_memspace_handle_kind) :: space
    integer(omp_memspace_handle_kind), pointer :: target_space
    integer(omp_allocator_handle_kind) :: allocator
    type(omp_alloctrait) :: traits(2)
    type(memspan_pointer_info_t) :: info
    type(c_ptr) :: block
    integer(c_int), pointer :: x(:)
    integer :: i

    block = omp_get_target_memspace(1, [omp_initial_device], omp_default_mem_space)
    if (.not. c_associated(block)) call fail("omp_get_target_memspace")
    call c_f_pointer(block, target_space)
    space = omp_get_devices_memspace(1, [omp_initial_device], omp_large_cap_mem_space)
    if (space == omp_null_mem_space) call fail("omp_get_devices_memspace")
    if (omp_get_memspace_num_resources(target_space) < 1) call fail("omp_get_memspace_num_...")
    if (omp_get_memspace_pagesize(target_space) < 4096) call fail("omp_get_memspace_pagesize")

    traits(1) = omp_alloctrait(omp_atk_memory_access, omp_atv_coherent)
    traits(2) = omp_alloctrait(omp_atk_guarantee, omp_atv_required)
    allocator = omp_init_allocator(target_space, 2, traits)
    if (allocator == omp_null_allocator) call fail("omp_init_allocator")
    block = omp_alloc(400_c_size_t, allocator)
    if (memspan_pointer_describe(block, info) /= MEMSPAN_OK) call fail("memspan_pointer_describe")
    if (info%allocator%handle /= allocator) call fail("the block's allocator")
    if (info%size_bytes /= 400) call fail("the block's size")
    call c_f_pointer(block, x, [100])
    !$omp parallel do
    do i = 1, 100
        x(i) = i
    end do
    if (sum(x) /= 5050) call fail("the sum")
    if (omp_target_is_accessible(block, 400_c_size_t, omp_get_initial_device()) /= 1) &
        call fail("omp_target_is_accessible")
    if (omp_get_device_from_uid("no such device" // c_null_char) /= omp_invalid_device) &
        call fail("omp_invalid_device")
    call omp_free(block, allocator)
    call omp_destroy_allocator(allocator)

contains

    subroutine fail(what)
        character(len=*), intent(in) :: what
        print "(3a)", what, ": ", memspan_string(memspan_error_text())
        error stop 1
    end subroutine
end program
