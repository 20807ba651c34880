! SPDX-License-Identifier: BSD-3-Clause
! Spaces, traits, allocators, queries and errors by the module memspan.
program allocators
    use, intrinsic :: iso_c_binding
    use memspan
    implicit none
    type(memspan_space_h) :: space, again
    type(memspan_allocator_h) :: allocator
    type(memspan_trait_t) :: traits(4)
    type(memspan_allocator_info_t) :: info
    type(memspan_space_info_t) :: space_info
    type(memspan_device_info_t) :: host
    type(memspan_allocator_stats_t) :: stats
    type(memspan_error_t), pointer :: error
    type(c_ptr) :: block
    real(c_double), pointer :: x(:)
    integer(c_size_t) :: count
    integer(c_int) :: status

    status = memspan_space_get([MEMSPAN_HOST], 1_c_size_t, MEMSPAN_SPACE_NULL, space)
    call check(status == MEMSPAN_OK, "a space of the host")
    status = memspan_space_get([MEMSPAN_HOST, MEMSPAN_HOST], 2_c_size_t, space, again)
    call check(status == MEMSPAN_OK .and. space == again, "the same space twice")
    call check(space /= MEMSPAN_SPACE_NULL, "a space is not no space")
    status = memspan_space_describe(space, space_info)
    call check(status == MEMSPAN_OK, "its description")
    call check(memspan_string(space_info%name) == "default", "its name")

    status = memspan_device_describe(MEMSPAN_HOST, host)
    call check(status == MEMSPAN_OK .and. host%capacity_bytes > 0, "the host")
    call check(all(shape(host%kind_note) == [128, MEMSPAN_KIND_COUNT]), "an array of strings")
    call check(len(memspan_string(host%kind_note(:, MEMSPAN_KIND_HOST + 1))) > 0, "one of them")

    status = memspan_trait_parse("alignment=256,pool_size=64k,fallback=null_fb" // c_null_char, &
        traits, 4_c_size_t, count)
    call check(status == MEMSPAN_OK .and. count == 3, "traits from text")
    call check(traits(1)%key == MEMSPAN_TRAIT_ALIGNMENT, "the first trait")
    call check(traits(1)%value == 256, "its value")
    status = memspan_allocator_create(space, traits, count, allocator)
    call check(status == MEMSPAN_OK, "an allocator")
    status = memspan_allocator_describe(allocator, info)
    call check(status == MEMSPAN_OK .and. info%space == space, "its description")
    call check(info%pool_size_bytes == 65536, "its limit")
    call check(info%kind_given == MEMSPAN_KIND_HOST, "its memory")
    call check(len(memspan_string(info%why)) > 0, "why it has that memory")

    block = memspan_alloc(allocator, 1000 * c_sizeof(0.0_c_double))
    call check(c_associated(block), "a block")
    call check(mod(transfer(block, 0_c_intptr_t), 256_c_intptr_t) == 0, "its alignment")
    call c_f_pointer(block, x, [1000])
    x = 2
    status = memspan_allocator_get_stats(allocator, stats)
    call check(status == MEMSPAN_OK .and. stats%live_bytes == 8000, "its counters")
    call check(sum(x) == 2000, "its contents")
    call check(.not. c_associated(memspan_alloc(allocator, 65537_c_size_t)), "the limit")
    call c_f_pointer(memspan_error_last(), error)
    call check(error%status == MEMSPAN_ERR_LIMIT, "the error of the limit")
    call check(memspan_free(block) == MEMSPAN_OK, "free")
    call check(memspan_allocator_destroy(allocator) == MEMSPAN_OK, "destroy")

    status = memspan_trait_parse("alignement=16" // c_null_char, traits, 4_c_size_t, count)
    call check(status == MEMSPAN_ERR_INVALID, "a misspelt trait")
    call check(index(memspan_string(memspan_error_text()), "alignement") > 0, "the error's text")
    call check(memspan_string(memspan_status_name(status)) == "MEMSPAN_ERR_INVALID", "a name")
    call check(memspan_string(memspan_version()) == MEMSPAN_VERSION_STRING, "the version")
    call check(memspan_string(c_null_ptr) == "", "no string")

contains

    subroutine check(is_so, what)
        logical, intent(in) :: is_so
        character(len=*), intent(in) :: what
        if (is_so) return
        print "(3a)", what, ": ", memspan_string(memspan_error_text())
        error stop 1
    end subroutine
end program
