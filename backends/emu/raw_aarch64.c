/* SPDX-License-Identifier: BSD-3-Clause */
/* raw_aarch64.c: the code that depends on the processor. */

#include "backends/emu/ring.h"

long emu_raw(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory", "cc");
    return x0;
}

uintptr_t emu_thread_pointer(void)
{
    uintptr_t pointer;

    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
    return pointer;
}

uint32_t emu_sequences_signature(void)
{
    return 0xd428bc00;
}
