/* SPDX-License-Identifier: BSD-3-Clause */
/* raw_x86_64.c: the code that depends on the processor. */

#include "backends/emu/ring.h"

long emu_raw(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8")   = e;
    register long r9 __asm__("r9")   = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

uintptr_t emu_thread_pointer(void)
{
    uintptr_t pointer;

    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

uint32_t emu_sequences_signature(void)
{
    return 0x53053053;
}
