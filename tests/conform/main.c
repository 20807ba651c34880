/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c: each conformance case as a Criterion test. Exit 77 where the backend has no device. */

#include "conform.h"
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CASES_MAX = 256, EXIT_SKIP = 77 };

static const struct conform_case *const lists[] = {
    conform_describe_cases, conform_memory_cases, conform_transfer_cases,  conform_reach_cases,
    conform_combine_cases,  conform_ladder_cases, conform_allocator_cases, conform_limit_cases,
    conform_pointer_cases,  conform_share_cases,  conform_thread_cases,    conform_queue_cases,
};

static const struct conform_case *case_at(int index)
{
    for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
        for (const struct conform_case *c = lists[l]; c->name != NULL; c++) {
            if (index-- == 0) {
                return c;
            }
        }
    }
    return NULL;
}

void conform_fail(const char *file, int line, const char *condition, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    cr_assert_fail("%s:%d: %s%s [last error: %s]",
                   (strrchr(file, '/') != NULL) ? strrchr(file, '/') + 1 : file, line, condition,
                   text, memspan_error_text());
    __builtin_unreachable();
}

void conform_skip(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "skipped: %s\n", text);
    cr_skip("%s", text);
    __builtin_unreachable();
}

/* Workers are started anew, so a parameter is a number, not an address. */
ParameterizedTestParameters(conform, one_case)
{
    static int numbers[CASES_MAX];
    int count = 0;

    while ((count < CASES_MAX) && (case_at(count) != NULL)) {
        numbers[count] = count;
        count++;
    }
    return cr_make_param_array(int, numbers, (size_t)count);
}

ParameterizedTest(int *number, conform, one_case)
{
    const struct conform_case *c = case_at(*number);
    const char *only             = getenv("CONFORM_CASE");

    if ((only != NULL) && (strcmp(only, c->name) != 0)) {
        cr_skip("CONFORM_CASE is another");
    }
    fprintf(stderr, "case %s\n", c->name);
    conform_begin();
    c->run();
    conform_end();
}

/* PoCL 5 sets this one when it is opened: a program that is then started has no other platform. */
static const char icds[] = "OCL_ICD_FILENAMES";
static char *icds_at_start;

__attribute__((constructor)) static void keep_environment(void)
{
    icds_at_start = getenv(icds);
    icds_at_start = (icds_at_start != NULL) ? strdup(icds_at_start) : NULL;
}

void conform_restore_environment(void)
{
    if (icds_at_start != NULL) {
        setenv(icds, icds_at_start, 1);
    } else {
        unsetenv(icds);
    }
}

/* Asked in a child: a driver that was opened before the workers start would be in their way. */
static bool has_device(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct conform_device device;
        char reason[400] = "";
        bool found       = conform_find(&device, reason, sizeof(reason));

        printf("%s%s\n", found ? "device: " : "skipped: ", found ? device.info.name : reason);
        fflush(stdout);
        _exit(found ? 0 : EXIT_SKIP);
    }
    if ((child < 0) || (waitpid(child, &status, 0) != child)) {
        return true; /* the cases will say what is wrong */
    }
    return !WIFEXITED(status) || (WEXITSTATUS(status) != EXIT_SKIP);
}

#ifdef MEMSPAN_TEST_FORKED
int memspan_run_forked(int argc, char **argv);
#endif

/* Visible: Criterion's workers look for it by name. */
__attribute__((visibility("default"))) int main(int argc, char **argv)
{
    if (getenv("CONFORM_ABORT") != NULL) {
        conform_abort_here();
    }
    if (!has_device()) {
        return EXIT_SKIP;
    }
#ifdef MEMSPAN_TEST_FORKED
    return memspan_run_forked(argc, argv);
#else
    struct criterion_test_set *tests = criterion_initialize();
    int result                       = 0;

    if (criterion_handle_args(argc, argv, true)) {
        result = !criterion_run_all_tests(tests);
    }
    criterion_finalize(tests);
    return result;
#endif
}
