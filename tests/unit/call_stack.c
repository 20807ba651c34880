/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/debug/call_stack.h"
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <string.h>

static __attribute__((noinline)) const struct msp_call_stack *inner_function(void)
{
    const struct msp_call_stack *stack = msp_call_stack_here();

    __asm__ volatile(""); /* no tail call */
    return stack;
}

static bool names(const struct msp_call_stack *stack, const char *function)
{
    struct msp_symbol symbol;
    size_t i;

    for (i = 0; i < stack->depth; i++) {
        msp_symbol_find((const char *)stack->frames[i] - 1, &symbol);
        if (strcmp(symbol.name, function) == 0) {
            cr_expect_gt(symbol.module_offset, 0);
            cr_expect_eq(symbol.module[0], '/');
            return true;
        }
    }
    return false;
}

Test(call_stack, equal_stacks_are_one)
{
    const struct msp_call_stack *stacks[2];
    const struct msp_call_stack *other;
    volatile size_t i; /* or the loop may become two lines */

    msp_call_stack_start();
    for (i = 0; i < 2; i++) {
        stacks[i] = inner_function();
    }
    other = inner_function();
    cr_assert_not_null(stacks[0]);
    cr_expect_eq(stacks[0], stacks[1], "the same line of the same loop");
    cr_expect_neq(stacks[0], other, "another line");
}

Test(call_stack, static_functions_have_names)
{
    const struct msp_call_stack *stack;

    msp_call_stack_start();
    stack = inner_function();
    cr_assert_not_null(stack);
    cr_expect(names(stack, "inner_function"));
    cr_expect_not(names(stack, "no_such_function"));
}

static __attribute__((noinline)) const struct msp_call_stack *descend(int levels)
{
    const struct msp_call_stack *stack =
        (levels == 0) ? msp_call_stack_here() : descend(levels - 1);

    __asm__ volatile("");
    return stack;
}

Test(call_stack, is_cut_where_it_is_too_deep)
{
    msp_call_stack_start();
    cr_assert_not_null(descend(1000));
    cr_expect_eq(descend(1000)->depth, (size_t)MSP_CALL_STACK_FRAMES_MAX);
}

Test(symbol, libraries_and_nothing)
{
    struct msp_symbol symbol;
    int here;

    msp_symbol_find((const char *)dlsym(RTLD_DEFAULT, "fopen") + 1, &symbol);
    cr_expect(strstr(symbol.name, "fopen") != NULL, "%s", symbol.name);
    cr_expect(symbol.module[0] == '/', "%s", symbol.module);
    msp_symbol_find(&here, &symbol);
    cr_expect_str_empty(symbol.name);
    msp_symbol_find(NULL, &symbol);
    cr_expect_str_empty(symbol.name);
}
