# SPDX-License-Identifier: BSD-3-Clause
"""What the module memspan has beyond the headers: strings, and memory for Fortran pointers."""

KINDS = (("integer(c_int8_t)", "i1", 1), ("integer(c_int16_t)", "i2", 2),
         ("integer(c_int32_t)", "i4", 4), ("integer(c_int64_t)", "i8", 8),
         ("real(c_float)", "r4", 4), ("real(c_double)", "r8", 8),
         ("complex(c_float_complex)", "z4", 8), ("complex(c_double_complex)", "z8", 16),
         ("logical", "l4", 4), ("logical(c_bool)", "l1", 1))
RANKS = range(1, 8)

DECLARATIONS = """\
interface
function c_strlen(text) bind(c, name="strlen") result(answer)
import
type(c_ptr), value :: text
integer(c_size_t) :: answer
end function
function memspan_fortran_compiled_c(version, options) result(answer) &
    bind(c, name="memspan_fortran_compiled")
import
character(kind=c_char), intent(in) :: version(*), options(*)
integer(c_int) :: answer
end function
function memspan_fortran_place_c(descriptor, allocator) result(answer) &
    bind(c, name="memspan_fortran_place")
import
type(c_ptr), value :: descriptor
type(memspan_allocator_h), value :: allocator
integer(c_int) :: answer
end function
function memspan_fortran_placed_c(pointer) result(answer) bind(c, name="memspan_fortran_placed")
import
type(c_ptr), value :: pointer
integer(c_int) :: answer
end function
end interface
interface memspan_string
module procedure memspan_string_at, memspan_string_in
end interface
private :: c_strlen, memspan_string_at, memspan_string_in, memspan_block, memspan_status_of
private :: memspan_fortran_compiled_c, memspan_fortran_place_c, memspan_fortran_placed_c
private :: memspan_place_tried, memspan_stop"""

HELPERS = """
! The text at a C string; "" where there is none.
function memspan_string_at(address) result(text)
type(c_ptr), intent(in) :: address
character(len=:), allocatable :: text
character(kind=c_char), pointer :: letters(:)
text = ""
if (.not. c_associated(address)) return
call c_f_pointer(address, letters, [c_strlen(address)])
text = memspan_string_in(letters)
end function

! The text in a C array, up to its null.
function memspan_string_in(letters) result(text)
character(kind=c_char), intent(in) :: letters(:)
character(len=:), allocatable :: text
integer :: length, at
do length = 0, size(letters) - 1
if (letters(length + 1) == c_null_char) exit
end do
allocate(character(len=length) :: text)
do at = 1, length
text(at:at) = letters(at)
end do
end function

! Memory for so many elements, or null. A product beyond 64 bits is -1, more than any memory.
function memspan_block(extents, element_bytes, allocator, stat) result(address)
integer(c_int64_t), intent(in) :: extents(:)
integer(c_int64_t), intent(in) :: element_bytes
type(memspan_allocator_h), intent(in) :: allocator
integer(c_int), intent(out), optional :: stat
type(c_ptr) :: address
integer(c_int64_t) :: bytes
integer :: i
bytes = element_bytes
do i = 1, size(extents)
if (any(extents == 0)) then
bytes = 1
else if (bytes < 0 .or. extents(i) > huge(bytes) / max(bytes, 1_c_int64_t)) then
bytes = -1
else
bytes = bytes * extents(i)
end if
end do
address = memspan_alloc(allocator, bytes)
if (present(stat)) stat = memspan_status_of(address)
end function

! MEMSPAN_OK, or where there is no memory the calling thread's last error.
function memspan_status_of(address) result(status)
type(c_ptr), intent(in) :: address
integer(c_int) :: status
type(memspan_error_t), pointer :: error
status = MEMSPAN_OK
if (c_associated(address)) return
call c_f_pointer(memspan_error_last(), error)
status = error%status
end function

! A failure of a call without stat= ends the program, as one of a deallocate statement does.
subroutine memspan_stop(call)
use, intrinsic :: iso_fortran_env, only: error_unit
character(len=*), intent(in) :: call
character(len=:), allocatable :: text
text = memspan_string(memspan_error_text())
if (index(text, call) /= 1) text = call // ": " // text
write(error_unit, "(a)") text
error stop 1
end subroutine

! MEMSPAN_OK, or the reason why allocate has no memory of an allocator: a variable of our own is
! placed and allocated. Without stat=, as that allocate statement is always a call of the runtime.
function memspan_place_tried(allocator) result(status)
use, intrinsic :: iso_fortran_env, only: compiler_version, compiler_options
type(memspan_allocator_h), intent(in) :: allocator
integer(c_int) :: status
integer(c_int8_t), allocatable, target :: x(:)
type(c_ptr) :: address
procedure(memspan_place_to_i1), pointer :: place
status = memspan_fortran_compiled_c(compiler_version() // c_null_char, &
    compiler_options() // c_null_char)
if (status /= MEMSPAN_OK) return
call c_f_procpointer(c_funloc(memspan_fortran_place_c), place)
status = place(x, allocator)
if (status /= MEMSPAN_OK) return
address = memspan_alloc(allocator, 1_c_size_t)
status = memspan_status_of(address)
if (status == MEMSPAN_OK) status = memspan_free(address)
if (status /= MEMSPAN_OK) return
allocate(x(1))
status = memspan_fortran_placed_c(c_loc(x))
deallocate(x)
end function"""

ALLOCATE = """
subroutine {name}(x, shape, allocator, stat)
{kind}, pointer, intent(out) :: x({colons})
integer({shape_kind}), intent(in) :: shape({rank})
type(memspan_allocator_h), intent(in) :: allocator
integer(c_int), intent(out), optional :: stat
type(c_ptr) :: address
nullify(x)
address = memspan_block(max(int(shape, c_int64_t), 0_c_int64_t), {bytes}_c_int64_t, &
    allocator, stat)
if (c_associated(address)) call c_f_pointer(address, x, max(shape, 0_{shape_kind}))
end subroutine"""

DEALLOCATE = """
subroutine {name}(x, stat)
{kind}, pointer, intent(inout) :: x({colons})
integer(c_int), intent(out), optional :: stat
integer(c_int) :: status
status = MEMSPAN_OK
if (associated(x)) status = memspan_free(c_loc(x))
if (status == MEMSPAN_OK) nullify(x)
if (present(stat)) stat = status
if (status /= MEMSPAN_OK .and. .not. present(stat)) call memspan_stop("memspan_deallocate")
end subroutine"""

# C takes the address of the descriptor of any type and rank; interfaces of one name that differ are
# errors, those of pointers to it are not.
PLACE_TO = """\
abstract interface
function {name}(x, allocator) result(answer) bind(c)
import
{kind}, allocatable, intent(inout) :: x(..)
type(memspan_allocator_h), value :: allocator
integer(c_int) :: answer
end function
end interface
private :: {name}"""

PLACE = """
subroutine {name}(x, allocator, stat)
{kind}, allocatable, intent(inout) :: x(..)
type(memspan_allocator_h), intent(in) :: allocator
integer(c_int), intent(out), optional :: stat
procedure({to}), pointer :: place
integer(c_int) :: status
status = memspan_place_tried(allocator)
if (status == MEMSPAN_OK) then
call c_f_procpointer(c_funloc(memspan_fortran_place_c), place)
status = place(x, allocator)
end if
if (present(stat)) stat = status
if (status /= MEMSPAN_OK .and. .not. present(stat)) call memspan_stop("memspan_place")
end subroutine"""


def memory_helpers():
    return HELPERS.splitlines()


def memory_procedures():
    """Declarations and procedures of memspan_allocate and its like, for all types and ranks."""
    bodies, generic = [], {"memspan_allocate": [], "memspan_deallocate": [], "memspan_place": []}
    declarations = DECLARATIONS.splitlines()

    def add(base, suffix, template, **values):
        name = base + suffix
        generic[base].append(name)
        bodies.extend(template.format(name=name, **values).splitlines())

    for kind, suffix, size in KINDS:
        for rank in RANKS:
            values = dict(kind=kind, bytes=size, rank=rank, colons=",".join(":" * rank))
            name = "_%s_%d" % (suffix, rank)
            add("memspan_allocate", name, ALLOCATE, shape_kind="c_int", **values)
            add("memspan_allocate", name + "_8", ALLOCATE, shape_kind="c_int64_t", **values)
            add("memspan_deallocate", name, DEALLOCATE, **values)
        if kind != "logical":  # which bind(c) does not have
            to = "memspan_place_to_" + suffix
            declarations += PLACE_TO.format(name=to, kind=kind).splitlines()
            add("memspan_place", "_" + suffix, PLACE, to=to, kind=kind)
    for name, procedures in generic.items():
        declarations += ["interface " + name, *("module procedure " + one for one in procedures),
                         "end interface", "private :: " + ", ".join(procedures)]
    return declarations, bodies
