! SPDX-License-Identifier: BSD-3-Clause
! The Fortran entry points (arguments by reference, not bind(c)) and those that are bind(c).
program fortran
  use omp_lib
  use, intrinsic :: iso_c_binding
  implicit none
  integer(omp_allocator_handle_kind) :: a, first, seen(0:3)
  type(omp_alloctrait) :: traits(2)
  type(c_ptr) :: p
  integer(c_intptr_t) :: address
  real(8), pointer :: x(:)
  integer :: i, n
  real(8) :: total
  integer :: y(16)

  traits(1) = omp_alloctrait(omp_atk_alignment, 128_omp_alloctrait_val_kind)
  traits(2) = omp_alloctrait(omp_atk_fallback, omp_atv_null_fb)
  a = omp_init_allocator(omp_default_mem_space, 2, traits)
  print '(a,l1)', 'made ', a /= omp_null_allocator
  first = omp_get_default_allocator()
  print '(a,l1)', 'first ', first == omp_default_mem_alloc
  call omp_set_default_allocator(a)
  print '(a,l1)', 'set ', omp_get_default_allocator() == a
  !$omp parallel num_threads(4)
  seen(omp_get_thread_num()) = omp_get_default_allocator()
  !$omp end parallel
  print '(a,l1)', 'inherited ', all(seen == a)

  p = omp_alloc(8000_c_size_t, a)
  address = transfer(p, address)
  print '(a,l1)', 'aligned ', mod(address, 128_c_intptr_t) == 0
  call c_f_pointer(p, x, [1000])
  total = 0
  !$omp parallel do reduction(+:total)
  do i = 1, 1000
     x(i) = i
     total = total + x(i)
  end do
  print '(a,f10.1)', 'total ', total
  p = omp_realloc(p, 16000_c_size_t, a, a)
  call c_f_pointer(p, x, [2000])
  print '(a,f10.1)', 'moved ', sum(x(1:1000))
  call omp_free(p, a)
  p = omp_calloc(10_c_size_t, 8_c_size_t, omp_null_allocator)
  call c_f_pointer(p, x, [10])
  print '(a,l1)', 'zero ', all(x == 0)
  call omp_free(p, omp_null_allocator)

  n = 0
  y = 2
  !$omp parallel num_threads(2) firstprivate(y) allocate(a: y) reduction(+:n)
  n = n + sum(y)
  !$omp end parallel
  print '(a,i4)', 'clause ', n
  call omp_set_default_allocator(omp_default_mem_alloc)
  call omp_destroy_allocator(a)
  print '(a,l1)', 'done ', omp_get_default_allocator() == omp_default_mem_alloc
end program fortran
