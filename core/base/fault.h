/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_FAULT_H
#define MEMSPAN_CORE_BASE_FAULT_H

/* The facts that a handler of SIGSEGV reads from the signal, and the call of the earlier handler.
 * All is inline: device processes of emulated devices have no C library to call. */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#if defined(__aarch64__)
#include <asm/sigcontext.h>
#endif

enum msp_fault_access { MSP_FAULT_READ, MSP_FAULT_WRITE, MSP_FAULT_UNKNOWN };

/* The third argument of a handler: the address of the instruction, and its access. */
static inline uintptr_t msp_fault_pc(const void *context);
static inline enum msp_fault_access msp_fault_access(const void *context);

/* Handle the signal as @p earlier would have done. The standard action comes into force when the
 * instruction strikes again; a signal that another process or thread sent is raised again. */
static inline void msp_fault_pass_on(const struct sigaction *earlier, int number, siginfo_t *info,
                                     void *context);

#if defined(__x86_64__)

static inline uintptr_t msp_fault_pc(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

static inline enum msp_fault_access msp_fault_access(const void *context)
{
    const ucontext_t *c = context;

    /* Bit 1 of the page fault's code. */
    return ((c->uc_mcontext.gregs[REG_ERR] & 2) != 0) ? MSP_FAULT_WRITE : MSP_FAULT_READ;
}

#else

static inline uintptr_t msp_fault_pc(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
}

static inline enum msp_fault_access msp_fault_access(const void *context)
{
    const ucontext_t *c = context;
    const char *at      = (const char *)c->uc_mcontext.__reserved;
    const char *end     = at + sizeof(c->uc_mcontext.__reserved);

    while (at + sizeof(struct _aarch64_ctx) <= end) {
        const struct _aarch64_ctx *head = (const struct _aarch64_ctx *)(const void *)at;

        if (head->magic == ESR_MAGIC) {
            const struct esr_context *esr = (const struct esr_context *)(const void *)at;

            /* WnR of a data abort. */
            return ((esr->esr & 0x40) != 0) ? MSP_FAULT_WRITE : MSP_FAULT_READ;
        }
        if ((head->magic == 0) || (head->size == 0)) {
            break;
        }
        at += head->size;
    }
    return MSP_FAULT_UNKNOWN;
}

#endif

static inline void msp_fault_pass_on(const struct sigaction *earlier, int number, siginfo_t *info,
                                     void *context)
{
    if ((earlier->sa_flags & SA_SIGINFO) != 0) {
        earlier->sa_sigaction(number, info, context);
    } else if ((earlier->sa_handler != SIG_DFL) && (earlier->sa_handler != SIG_IGN)) {
        earlier->sa_handler(number);
    } else {
        (void)sigaction(number, earlier, NULL);
        if (info->si_code <= 0) {
            raise(number); /* sent: no instruction strikes again */
        }
    }
}

#endif
