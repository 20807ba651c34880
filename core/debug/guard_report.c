/* SPDX-License-Identifier: BSD-3-Clause */
/* guard_report.c: the guard's findings in words.
 *
 * A finding is one block of text in one write, so that those of several threads stay whole. It is
 * made in a buffer that was there before: the heap may be broken itself. */

#include "core/debug/guard_report.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/platform.h"
#include "core/debug/call_stack.h"
#include "core/debug/watch.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct msp_guard_settings msp_guard_settings;

MSP_LOCK_STATIC(report_lock, MSP_RANK_GUARD_REPORT); /* guards text, used */
static char text[32 * 1024] MSP_SPARSE;
static size_t used;
static atomic_bool reported;

/* ---- the text ---- */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text + used, sizeof(text) - used, format, args);
    va_end(args);
    if (n > 0) {
        used += ((size_t)n < sizeof(text) - used) ? (size_t)n : sizeof(text) - used - 1;
    }
}

static void begin(const char *level)
{
    msp_lock(&report_lock);
    used = 0;
    say("memspan[%d] %s guard: ", (int)getpid(), level);
}

static void end(void)
{
    msp_report_write(text, used);
    msp_unlock(&report_lock);
}

/* ---- its parts ---- */

static void say_frame(size_t i, const void *address)
{
    struct msp_symbol symbol;

    msp_symbol_find(address, &symbol);
    say("    #%zu %s+0x%zx", i, (symbol.name[0] != '\0') ? symbol.name : "?", symbol.offset);
    if (symbol.line > 0) {
        say(" at %s:%u", symbol.file, symbol.line);
    }
    say(" (%s+0x%zx)\n", (symbol.module[0] != '\0') ? symbol.module : "?",
        (size_t)symbol.module_offset);
}

static void say_stack(const struct msp_call_stack *stack)
{
    size_t i;

    if ((stack == NULL) || (stack->depth == 0)) {
        say("    (the call stack could not be had)\n");
        return;
    }
    for (i = 0; i < stack->depth; i++) {
        /* A return address is that of the next instruction, which may be another function's. */
        say_frame(i, (const char *)stack->frames[i] - 1);
    }
}

static const char *reach_text(const struct msp_red_zone *f)
{
    switch (f->reach) {
    case MSP_RED_ZONE_DRIVER:
        return "; its red zone is checked through the driver";
    case MSP_RED_ZONE_NONE:
        return "; it has no red zone that could be checked";
    default:
        return "";
    }
}

static void say_block(const struct msp_guard_block *b)
{
    const struct msp_red_zone *f = &b->zone;

    say("  the block: %zu bytes at %p, %s memory of allocator %s%s%s\n", f->size_bytes,
        (void *)f->address, memspan_kind_name(f->provider->spec.kind), b->allocator,
        b->owner.fallback ? ", given as a fallback" : "", reach_text(f));
    say("  allocated by thread %d:\n", (int)b->alloc_thread);
    say_stack(b->alloc_stack);
    if (b->freed) {
        say("  freed by thread %d:\n", (int)b->free_thread);
        say_stack(b->free_stack);
    }
}

/* Where an address lies as seen from a block. */
static void say_where(const void *address, const struct msp_guard_block *b)
{
    const unsigned char *at = address;
    const unsigned char *to = b->zone.address + b->zone.size_bytes;

    if (at < b->zone.address) {
        say("%zu bytes before", (size_t)(b->zone.address - at));
    } else if (at < to) {
        say("%zu bytes inside", (size_t)(at - b->zone.address));
    } else {
        say("%zu bytes behind the end of", (size_t)(at - to));
    }
    say(" a block of %zu bytes", b->zone.size_bytes);
}

static void say_damage(const struct msp_guard_finding *f)
{
    const struct msp_red_zone_damage *d = &f->damage;
    const struct msp_guard_block *b     = f->block;
    const unsigned char *end_of_block   = b->zone.address + b->zone.size_bytes;
    const unsigned char *at             = d->address;

    if (f->fault == MSP_GUARD_WRITTEN_FREED) {
        say("write after free: byte %zu of a block of %zu bytes was written to after its free",
            (size_t)(at - b->zone.address), b->zone.size_bytes);
    } else if (d->before) {
        say("underrun: byte -%zu of a block of %zu bytes was written to",
            (size_t)(b->zone.address - at), b->zone.size_bytes);
    } else {
        say("overrun: byte %zu of a block of %zu bytes was written to",
            b->zone.size_bytes + (size_t)(at - end_of_block), b->zone.size_bytes);
    }
    if (d->bytes > 1) {
        say(", and others %s it, over %zu bytes", d->before ? "before" : "behind", d->bytes);
    }
    say("\n");
}

static void say_what(const struct msp_guard_finding *f)
{
    const char *call = (f->call == NULL) ? "exit" : f->call;

    switch (f->fault) {
    case MSP_GUARD_DOUBLE_FREE:
        say("%s of %p, a block of %zu bytes that was freed before\n",
            (call[0] == 'f') ? "double free" : call, f->address, f->block->zone.size_bytes);
        break;
    case MSP_GUARD_INTERIOR:
        say("%s of %p, which starts no block: it lies ", call, f->address);
        say_where(f->address, f->block);
        say("\n");
        break;
    case MSP_GUARD_WILD:
        say("%s of %p, which is in memory of Memspan, but no block is known there\n", call,
            f->address);
        break;
    case MSP_GUARD_STRANGER:
        say("%s of %p, which is not memory of Memspan\n", call, f->address);
        break;
    default:
        say_damage(f);
    }
}

static const char *hint_of(const struct msp_guard_finding *f)
{
    switch (f->fault) {
    case MSP_GUARD_DOUBLE_FREE:
        return "free a block once, or set the pointer to NULL when it is freed";
    case MSP_GUARD_INTERIOR:
        return "pass the address that the allocation returned";
    case MSP_GUARD_WILD:
        return "it was freed long ago, or never allocated";
    case MSP_GUARD_STRANGER:
        return "free it with what allocated it; malloc's memory goes to free()";
    case MSP_GUARD_WRITTEN_FREED:
        return "find who keeps the address; a watchpoint in a debugger shows the write";
    default:
        return "compare the size with what is written; a watchpoint on the byte shows the write";
    }
}

/* ---- the header's functions ---- */

bool msp_guard_reported(void)
{
    return atomic_load(&reported);
}

void msp_guard_report(const struct msp_guard_finding *f)
{
    const struct msp_call_stack *here = msp_call_stack_here();

    atomic_store(&reported, true);
    begin("error");
    say_what(f);
    if (f->block != NULL) {
        say_block(f->block);
    }
    if (f->call != NULL) {
        say("  this %s, by thread %d:\n", f->call, (int)gettid());
        say_stack(here);
    } else {
        say("  found when %s\n", (f->fault == MSP_GUARD_WRITTEN_FREED)
                                     ? "the block was to be used again, or the program ended"
                                     : "the program ended");
    }
    say("  what helps: %s\n", hint_of(f));
    if (!msp_guard_settings.goes_on) {
        say("  the program ends here; with MEMSPAN_DEBUG=guard,report it goes on\n");
    }
    end();
    if (!msp_guard_settings.goes_on) {
        msp_watch_ending();
        abort();
    }
}

void msp_guard_report_fault(const void *address, bool is_write, const struct msp_guard_block *block,
                            void *const *frames, size_t depth)
{
    const char *did         = is_write ? "was written to" : "was read";
    const unsigned char *at = address;
    size_t size             = block->zone.size_bytes;
    size_t i;

    atomic_store(&reported, true);
    begin("error");
    if (at < block->zone.address) {
        say("%s: byte -%zu of a block of %zu bytes %s%s\n",
            block->freed ? "use after free" : "underrun", (size_t)(block->zone.address - at), size,
            did, block->freed ? " after its free" : "");
    } else if (block->freed) {
        say("use after free: byte %zu of a block of %zu bytes %s after its free\n",
            (size_t)(at - block->zone.address), size, did);
    } else {
        say("overrun: byte %zu of a block of %zu bytes %s\n", (size_t)(at - block->zone.address),
            size, did);
    }
    say_block(block);
    say("  this %s, by thread %d:\n", is_write ? "write" : "read", (int)gettid());
    for (i = 0; i < depth; i++) {
        say_frame(i, (const char *)frames[i] - ((i == 0) ? 0 : 1));
    }
    say("  what helps: %s\n", block->freed
                                  ? "find who keeps the address after the free"
                                  : "compare the block's size with the index that is used here");
    say("  the program ends here, by SIGSEGV at this instruction\n");
    end();
}

void msp_guard_report_leaks(const struct msp_guard_leak *leaks, size_t shown, size_t groups,
                            uint64_t count, uint64_t bytes)
{
    size_t i;

    atomic_store(&reported, true);
    begin("warn");
    say("%llu bytes were not freed, in %llu block%s\n", (unsigned long long)bytes,
        (unsigned long long)count, (count == 1) ? "" : "s");
    end();
    for (i = 0; i < shown; i++) {
        begin("warn");
        if (leaks[i].count == 1) {
            say("leak: %llu bytes in one block\n", (unsigned long long)leaks[i].bytes);
        } else {
            say("leak: %llu bytes in %zu blocks, allocated by the same calls; the first of them:\n",
                (unsigned long long)leaks[i].bytes, leaks[i].count);
        }
        say_block(&leaks[i].first);
        end();
    }
    if (shown < groups) {
        begin("warn");
        say("and those of %zu more places, which hold less\n", groups - shown);
        end();
    }
}

void msp_guard_report_block(const void *address, const struct msp_guard_block *block)
{
    begin("info");
    if (block == NULL) {
        say("%p is near no block that is known\n", address);
    } else {
        say("%p is ", address);
        say_where(address, block);
        say(block->freed ? ", which was freed\n" : "\n");
        say_block(block);
    }
    end();
}
