/* SPDX-License-Identifier: BSD-3-Clause */

/* A second way to run Criterion tests: each in a fork of this program, one after the other, without
 * Criterion's worker processes. Linked into a test, it stands in front of libcriterion's own main()
 * and of the few functions by which assertions report; the tests themselves do not change.
 *
 * Understood: fixtures of tests and suites, expected signal and exit code, disabled tests, time
 * limits, parameterized tests, cr_skip, and the arguments --filter SUITE/TEST and --list.
 * Everything else on the command line is ignored. Not understood: theories. */

#include <criterion/criterion.h>
#include <criterion/internal/new_asserts.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sanitizer/common_interface_defs.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_PASSED = 0, EXIT_FAILED = 101, EXIT_SKIPPED = 102 };
enum { SECONDS_MAX_DEFAULT = 600 };
enum { TRIES_MAX = 3 }; /* of a test whose leak check has crashed */

extern struct criterion_test *__start_cr_tst[];
extern struct criterion_test *__stop_cr_tst[];
/* A program need not have a suite. */
extern struct criterion_suite *__start_cr_sts[] __attribute__((weak));
extern struct criterion_suite *__stop_cr_sts[] __attribute__((weak));

static sigjmp_buf leave_test;
static volatile sig_atomic_t test_failed;
static const struct criterion_test *test_now;
static const struct criterion_test_extra_data *suite_now;
static void *parameter_now;

/* What assertions call. */

void criterion_abort_test(void)
{
    test_failed = 1;
    siglongjmp(leave_test, 1);
}

void criterion_continue_test(void)
{
    test_failed = 1;
}

void criterion_send_assert(struct criterion_assert_stats *stats)
{
    if (!stats->passed) {
        test_failed = 1;
        fprintf(stderr, "%s:%u: failed: %s\n", stats->file, stats->line, stats->message);
    }
}

static const char *param_text(const struct cri_assert_param *param)
{
    bool text = (param->type == CRI_ASSERT_RT_STR) && (param->data != NULL);

    return text ? (const char *)param->data : "?";
}

static void print_node(const struct cri_assert_node *node, int depth)
{
    if ((node->repr != NULL) && !node->pass) {
        fprintf(stderr, "%*s%s is false\n", 2 * depth, "", node->repr);
        for (size_t i = 0; (i < CRI_ASSERT_MAX_PARAMS) && (node->params[i].name != NULL); i++) {
            fprintf(stderr, "%*s  %s: %s\n", 2 * depth, "", node->params[i].name,
                    param_text(&node->params[i]));
        }
    }
    for (size_t i = 0; i < node->nchild; i++) {
        print_node(&node->children[i], depth + 1);
    }
}

void cri_assert_node_send(const char *file, size_t line, struct cri_assert_node *node)
{
    fprintf(stderr, "%s:%zu: failed: %s\n", file, line,
            (node->message != NULL) ? node->message : "");
    print_node(node, 0);
}

void cri_asserts_passed_incr(void)
{
}

void criterion_skip_test(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "skipped: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fflush(NULL);
    _exit(EXIT_SKIPPED);
}

void criterion_test_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    _exit(EXIT_FAILED);
}

/* The three steps that a test's trampoline takes. */

void criterion_internal_test_setup(void)
{
    if ((suite_now != NULL) && (suite_now->init != NULL)) {
        suite_now->init();
    }
    if (test_now->data->init != NULL) {
        test_now->data->init();
    }
}

void criterion_internal_test_main(void (*function)(void))
{
    if (test_now->data->kind_ == CR_TEST_PARAMETERIZED) {
        ((void (*)(void *))function)(parameter_now);
    } else {
        function();
    }
}

void criterion_internal_test_teardown(void)
{
    if (test_now->data->fini != NULL) {
        test_now->data->fini();
    }
    if ((suite_now != NULL) && (suite_now->fini != NULL)) {
        suite_now->fini();
    }
}

/* Runs in the child; does not return. */
static void run_here(const struct criterion_test *test)
{
    double limit = test->data->timeout;

    if ((limit <= 0) && (suite_now != NULL)) {
        limit = suite_now->timeout;
    }
    alarm((limit > 0) ? (unsigned)limit * 4 + 1 : SECONDS_MAX_DEFAULT);
    if (sigsetjmp(leave_test, 1) == 0) {
        test->test();
    }
    fflush(NULL);
    exit(test_failed ? EXIT_FAILED : EXIT_PASSED); /* exit: the sanitizer has the last word */
}

static const struct criterion_test_extra_data *suite_of(const char *name)
{
    for (struct criterion_suite **suite = __start_cr_sts; suite < __stop_cr_sts; suite++) {
        if ((*suite != NULL) && (strcmp((*suite)->name, name) == 0)) {
            return (*suite)->data;
        }
    }
    return NULL;
}

/* What the child's end means for a test that expects this signal and exit code. */
static int verdict(const struct criterion_test *test, int status)
{
    int signal_wanted = test->data->signal;
    int code_wanted   = test->data->exit_code;

    if ((suite_now != NULL) && (signal_wanted == 0)) {
        signal_wanted = suite_now->signal;
    }
    if ((suite_now != NULL) && (code_wanted == 0)) {
        code_wanted = suite_now->exit_code;
    }
    if (WIFSIGNALED(status)) {
        if (WTERMSIG(status) == signal_wanted) {
            return EXIT_PASSED;
        }
        fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
        return EXIT_FAILED;
    }
    if (WEXITSTATUS(status) == EXIT_SKIPPED) {
        return EXIT_SKIPPED;
    }
    if ((WEXITSTATUS(status) == code_wanted) && (signal_wanted == 0)) {
        return EXIT_PASSED;
    }
    if (WEXITSTATUS(status) != EXIT_FAILED) {
        fprintf(stderr, "ended with exit code %d\n", WEXITSTATUS(status));
    }
    return EXIT_FAILED;
}

/* A file for the sanitizer's reports, out of the way of tests that count descriptors. */
static int open_report(void)
{
    int low  = memfd_create("report", MFD_CLOEXEC);
    int high = fcntl(low, F_DUPFD_CLOEXEC, 500);

    close(low);
    return high;
}

/* Prints and closes it. True: the leak check has crashed, as GCC 12's does now and then where a
 * thread ends meanwhile. */
static bool print_report(int report)
{
    bool has_crashed = false;
    char text[4096];
    ssize_t got;

    lseek(report, 0, SEEK_SET);
    while ((got = read(report, text, sizeof text - 1)) > 0) {
        text[got]   = '\0';
        has_crashed = has_crashed || (strstr(text, "Tracer caught signal") != NULL);
        fputs(text, stderr);
    }
    close(report);
    return has_crashed;
}

static int run_forked(const struct criterion_test *test)
{
    int left = TRIES_MAX;
    int report;
    int status;
    pid_t child;

    do {
        fflush(NULL);
        report = open_report();
        child  = fork();
        if (child == 0) {
            __sanitizer_set_report_fd((void *)(intptr_t)report);
            run_here(test);
        }
        if ((child < 0) || (waitpid(child, &status, 0) != child)) {
            perror("fork");
            return EXIT_FAILED;
        }
    } while (print_report(report) && (--left > 0));
    return verdict(test, status);
}

struct counts {
    unsigned run, failed, skipped;
};

static void count_one(const struct criterion_test *test, struct counts *counts)
{
    int result = run_forked(test);

    counts->run++;
    counts->failed += (result == EXIT_FAILED);
    counts->skipped += (result == EXIT_SKIPPED);
    printf("[%s] %s::%s\n",
           (result == EXIT_PASSED) ? "PASS" : ((result == EXIT_SKIPPED) ? "SKIP" : "FAIL"),
           test->category, test->name);
}

static void run_test(const struct criterion_test *test, struct counts *counts)
{
    struct criterion_test_params params;

    test_now  = test;
    suite_now = suite_of(test->category);
    if (test->data->disabled || ((suite_now != NULL) && suite_now->disabled)) {
        return;
    }
    if (test->data->kind_ != CR_TEST_PARAMETERIZED) {
        count_one(test, counts);
        return;
    }
    params = test->data->param_();
    for (size_t i = 0; i < params.length; i++) {
        parameter_now = (char *)params.params + i * params.size;
        count_one(test, counts);
    }
    if (params.cleanup != NULL) {
        params.cleanup(&params);
    }
}

int memspan_run_forked(int argc, char **argv);

int memspan_run_forked(int argc, char **argv)
{
    const char *filter   = "*";
    struct counts counts = {0};
    int list             = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            list = 1;
        } else if ((strcmp(argv[i], "--filter") == 0) && (i + 1 < argc)) {
            filter = argv[++i];
        } else if (strncmp(argv[i], "--filter=", 9) == 0) {
            filter = argv[i] + 9;
        }
    }
    for (struct criterion_test **test = __start_cr_tst; test < __stop_cr_tst; test++) {
        if ((*test == NULL) || (fnmatch(filter, (*test)->data->identifier_, 0) != 0)) {
            continue;
        }
        if (list) {
            printf("%s\n", (*test)->data->identifier_);
        } else {
            run_test(*test, &counts);
        }
    }
    printf("%u run, %u failed, %u skipped\n", counts.run, counts.failed, counts.skipped);
    return (counts.failed == 0) ? 0 : 1;
}

/* A program that has something to do first has a main() of its own. */
__attribute__((weak)) int main(int argc, char **argv)
{
    return memspan_run_forked(argc, argv);
}
