/* SPDX-License-Identifier: BSD-3-Clause */
/* The guard, by what it says of guard-victim and how that ends. */

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct end {
    int status;       /* as waitpid() gives it */
    char said[65536]; /* on standard error */
};

/* Runs the victim with MEMSPAN_DEBUG=words ("": unset). */
static void run(const char *words, const char *wrong, struct end *end)
{
    int ends[2];
    size_t used = 0;
    ssize_t n;
    pid_t child;

    cr_assert_eq(pipe(ends), 0);
    child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        unsetenv("MEMSPAN_DEBUG");
        if (words[0] != '\0') {
            setenv("MEMSPAN_DEBUG", words, 1);
        }
        execl(VICTIM, "guard-victim", wrong, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while ((n = read(ends[0], end->said + used, sizeof(end->said) - 1 - used)) > 0) {
        used += (size_t)n;
    }
    end->said[used] = '\0';
    close(ends[0]);
    cr_assert_eq(waitpid(child, &end->status, 0), child);
    if (WIFEXITED(end->status) && (WEXITSTATUS(end->status) == 77)) {
        cr_skip("%s", end->said);
    }
}

static bool exited_with(const struct end *end, int code)
{
    return WIFEXITED(end->status) && (WEXITSTATUS(end->status) == code);
}

/* A sanitizer turns the signal into a report and an exit status. */
static bool faulted(const struct end *end)
{
    return (WIFSIGNALED(end->status) && (WTERMSIG(end->status) == SIGSEGV)) ||
           (WIFEXITED(end->status) && (WEXITSTATUS(end->status) != 0) &&
            (strstr(end->said, "SEGV") != NULL));
}

static bool aborted(const struct end *end)
{
    return WIFSIGNALED(end->status) && (WTERMSIG(end->status) == SIGABRT);
}

/* All of the texts, "|" between them, in this order. */
static bool says(const struct end *end, const char *texts)
{
    const char *from = end->said;
    char text[128];
    size_t length;

    for (; *texts != '\0'; texts += length + (texts[length] == '|')) {
        length = strcspn(texts, "|");
        snprintf(text, sizeof(text), "%.*s", (int)length, texts);
        from = strstr(from, text);
        if (from == NULL) {
            return false;
        }
        from += length;
    }
    return true;
}

/* ---- what ends the program with a report ---- */

struct report {
    char wrong[32];
    char texts[192];
};

ParameterizedTestParameters(guard, reports_and_aborts)
{
    static struct report reports[] = {
        {"double_free", "double free of 0x|a block of 24 bytes|the block: 24 bytes at|"
                        "allocated by thread|take+|double_free+|freed by thread|double_free+|"
                        "this free, by thread|double_free+|what helps"},
        {"double_free_by_thread", "double free|allocated by|double_free_by_thread+|freed by|"
                                  "free_it+|this free|double_free_by_thread+"},
        {"free_inside", "which starts no block|16 bytes inside a block of 1000 bytes|free_inside+"},
        {"free_foreign", "free of|is not memory of Memspan|free_foreign+"},
        {"free_garbage", "free of 0x123456789abcdef0|is not memory of Memspan|free_garbage+"},
        {"realloc_freed", "realloc of|freed before|allocated by|freed by|this realloc"},
        {"overrun_pattern", "overrun: byte 20 of a block of 20 bytes|take+|this free"},
        {"overrun_until_realloc", "overrun: byte 21 of a block of 20 bytes"},
        {"overrun_until_exit", "overrun: byte 20 of a block of 20 bytes|when the program ended"},
        {"overrun_aligned", "overrun: byte 100 of a block of 100 bytes"},
        {"overrun_pinned", "overrun: byte 64 of a block of 64 bytes|host-pinned memory"},
        {"underrun", "underrun: byte -1 of a block of 64 bytes|underrun+"},
        {"write_freed_pinned", "write after free: byte 7 of a block of 64 bytes|freed by"},
        {"many_and_overrun", "overrun: byte 20 of a block of 20 bytes"},
    };

    return cr_make_param_array(struct report, reports, sizeof(reports) / sizeof(reports[0]));
}

ParameterizedTest(struct report *report, guard, reports_and_aborts)
{
    static struct end end;

    run("guard", report->wrong, &end);
    cr_expect(aborted(&end), "%s: status %x: %s", report->wrong, end.status, end.said);
    cr_expect(says(&end, report->texts), "%s: not \"%s\" in: %s", report->wrong, report->texts,
              end.said);
}

/* ---- what a closed page ends ---- */

ParameterizedTestParameters(guard, faults_where_it_happens)
{
    static struct report faults[] = {
        {"overrun_page", "overrun: byte 4096 of a block of 4096 bytes was written to|allocated by|"
                         "take+|this write, by thread|overrun_page+"},
        {"overrun_read", "overrun: byte 64 of a block of 64 bytes was read|overrun_read+"},
        {"overrun_large", "overrun: byte 5242880 of a block of 5242880 bytes was written to|"
                          "overrun_large+|this write|overrun_large+"},
        {"use_freed", "use after free: byte 50 of a block of 100 bytes was read|allocated by|take+|"
                      "freed by thread|use_freed_by+|this read|use_freed_by+|use_freed+"},
        {"use_freed_unwinder_faults", "use after free: byte 50|allocated by|take+|freed by thread|"
                                      "this read|#0 read_unwindless+|what helps"},
        {"underrun_far_aligned", "underrun: byte -8 of a block of 100 bytes was written to"},
        {"write_freed_large",
         "use after free: byte 1048576 of a block of 3145728 bytes was written"},
        {"many_and_read", "overrun: byte 48 of a block of 40 bytes was read|many_and_read+"},
        {"locked_then_used", "use after free: byte 50 of a block of 100 bytes was read"},
        {"all_locked", "overrun: byte 4096 of a block of 4096 bytes was written to"},
        {"read_by_child", "overrun: byte 64 of a block of 64 bytes was read|read_by_child+"},
    };

    return cr_make_param_array(struct report, faults, sizeof(faults) / sizeof(faults[0]));
}

ParameterizedTest(struct report *fault, guard, faults_where_it_happens)
{
    static struct end end;

    run("guard", fault->wrong, &end);
    cr_expect(faulted(&end), "%s: status %x: %s", fault->wrong, end.status, end.said);
    cr_expect(says(&end, fault->texts), "%s: not \"%s\" in: %s", fault->wrong, fault->texts,
              end.said);
}

/* ---- kernels without guard regions: pages are closed by mprotect() ---- */

static struct end *run_on_old_kernel(const char *wrong)
{
    static struct end end;

    setenv("VICTIM_KERNEL", "old", 1);
    run("guard", wrong, &end);
    unsetenv("VICTIM_KERNEL");
    return &end;
}

Test(guard, old_kernels_close_pages_too)
{
    static const char *const wrongs[] = {"overrun_page", "overrun_read", "use_freed",
                                         "underrun_far_aligned", "write_freed_large"};
    size_t i;

    for (i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        const struct end *end = run_on_old_kernel(wrongs[i]);

        cr_expect(faulted(end), "%s: status %x: %s", wrongs[i], end->status, end->said);
    }
    cr_expect(exited_with(run_on_old_kernel("used_again"), 0));
}

/* A number behind the last @p name that was said; -1 without it. */
static long number(const struct end *end, const char *name)
{
    const char *at = NULL;
    const char *next;

    for (next = end->said; (next = strstr(next, name)) != NULL; next++) {
        at = next + strlen(name);
    }
    return (at == NULL) ? -1 : atol(at);
}

Test(guard, old_kernels_limit_the_blocks_with_closed_pages_and_say_so)
{
    const struct end *end = run_on_old_kernel("many_counted");
    long closed           = number(end, " closed=");

    cr_expect(exited_with(end, 0), "status %x: %s", end->status, end->said);
    cr_expect(says(end, "no page is closed behind a block of 40 bytes|patterns alone|"
                        "memspan stats guard pages=mprotect allocated=40000 live=40000 closed="),
              "%s", end->said);
    cr_expect((closed > 1000) && (closed < 40000), "%s", end->said);
    cr_expect_eq(number(end, " patterns="), 39999 - closed, "%s", end->said);
    cr_expect_gt(number(end, "mappings="), closed);
}

Test(guard, all_blocks_have_closed_pages_without_mappings)
{
    static struct end end;

    run("guard", "many_counted", &end);
    if (!says(&end, "pages=guard-regions")) {
        cr_skip("the kernel has no guard regions (Linux 6.13), or memory is locked");
    }
    cr_expect(says(&end, "allocated=40000 live=40000 closed=40000 patterns=0 refused=0 "
                         "quarantined=0\n|live=39999 closed=39999 patterns=0 refused=0 "
                         "quarantined=1\n"),
              "%s", end.said);
    cr_expect_lt(number(&end, "mappings="), 1000, "%s", end.said);
    cr_expect_not(says(&end, " warn guard: "), "%s", end.said);
}

Test(guard, a_fault_goes_to_the_programs_own_handler_too)
{
    static struct end end;

    run("guard", "use_freed_with_handler", &end);
    cr_expect(exited_with(&end, 42), "status %x: %s", end.status, end.said);
    cr_expect(says(&end, "use after free: byte 50|the program's own handler"), "%s", end.said);
    run("guard", "elsewhere_with_handler", &end);
    cr_expect(exited_with(&end, 42), "status %x: %s", end.status, end.said);
    cr_expect_not(says(&end, "guard: "), "%s", end.said);
}

Test(guard, a_fault_elsewhere_ends_the_program_as_ever)
{
    static struct end end;

    run("guard", "elsewhere", &end);
    cr_expect(faulted(&end), "status %x: %s", end.status, end.said);
    cr_expect_not(says(&end, "guard: "), "%s", end.said);
    run("guard", "sent", &end);
    cr_expect(faulted(&end), "status %x: %s", end.status, end.said);
}

Test(guard, frames_have_lines_of_source)
{
    static struct end end;
    char words[64];
    unsigned line = 0;

    run("guard", "free_foreign", &end);
    cr_expect(sscanf(end.said, "line %u", &line) == 1, "%s", end.said);
    snprintf(words, sizeof(words), "this free|#0 free_foreign+0x| at victim.c:%u (", line);
    cr_expect(says(&end, words), "not %s in: %s", words, end.said);
}

/* ---- leaks ---- */

Test(guard, leaks_are_told_with_the_function_that_allocated)
{
    static struct end end;

    run("guard", "leak", &end);
    cr_expect(exited_with(&end, 0), "status %x", end.status);
    cr_expect(says(&end, "2000 bytes were not freed, in 2 blocks|leak: 1000 bytes|"
                         "the block: 1000 bytes at|omp_default_mem_alloc|allocated by thread|"
                         "take+|keep_two+|leak+|leak: 1000 bytes|keep_two+"),
              "%s", end.said);
    cr_expect_not(says(&end, " 24 bytes at"), "what was freed is no leak: %s", end.said);
}

Test(guard, leaks_change_the_exit_status_on_request)
{
    static struct end end;

    run("guard,fail", "leak", &end);
    cr_expect(exited_with(&end, 86), "status %x", end.status);
    run("guard,noleaks,fail", "leak", &end);
    cr_expect(exited_with(&end, 0), "status %x", end.status);
    cr_expect_not(says(&end, "guard: "), "%s", end.said);
}

Test(guard, a_child_tells_nothing_of_its_parent)
{
    static struct end end;

    run("guard,fail", "leak_of_parent", &end);
    cr_expect(exited_with(&end, 0), "status %x: %s", end.status, end.said);
}

/* ---- words ---- */

Test(guard, report_goes_on)
{
    static struct end end;

    run("guard,report", "double_free", &end);
    cr_expect(exited_with(&end, 0), "status %x", end.status);
    cr_expect(says(&end, "double free"), "%s", end.said);
    run("guard,report,fail", "overrun_until_exit", &end);
    cr_expect(exited_with(&end, 86), "status %x", end.status);
    cr_expect(says(&end, "overrun: byte 20|not freed"), "%s", end.said);
}

Test(guard, other_words_are_refused)
{
    static struct end end;

    run("guard,loud", "leak", &end);
    cr_expect(exited_with(&end, 0), "status %x", end.status);
    cr_expect(says(&end, "MEMSPAN_DEBUG=guard,loud: \"loud\""), "%s", end.said);
    cr_expect_not(says(&end, "not freed"), "%s", end.said);
    run("report", "leak", &end);
    cr_expect(says(&end, "the word guard is missing"), "%s", end.said);
}

/* ---- nothing wrong ---- */

struct right {
    char name[32];
};

ParameterizedTestParameters(guard, right_programs_run_as_ever)
{
    static struct right rights[] = {{"nothing_wrong"}, {"used_again"}, {"sizes_as_asked"}};

    return cr_make_param_array(struct right, rights, sizeof(rights) / sizeof(rights[0]));
}

ParameterizedTest(struct right *right, guard, right_programs_run_as_ever)
{
    static struct end end;

    run("guard,fail", right->name, &end);
    cr_expect(exited_with(&end, 0), "%s: status %x: %s", right->name, end.status, end.said);
    cr_expect_not(says(&end, "guard: "), "%s: %s", right->name, end.said);
}

Test(guard, off_finds_nothing)
{
    static struct end end;

    run("", "overrun_pattern", &end);
    cr_expect(exited_with(&end, 0), "status %x: %s", end.status, end.said);
    cr_expect_str_empty(end.said);
}
