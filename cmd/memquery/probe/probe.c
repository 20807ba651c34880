/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.c: the process that answers, and its failures.
 *
 * One child does all work. If it dies or hangs, each backend that the user allows is probed in a
 * child of its own, and the work is repeated without those that failed. MEMSPAN_BACKENDS selects
 * backends; it is set in the child, before the library reads it. */

#include "cmd/memquery/probe/probe.h"
#include "cmd/memquery/output/output.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct task {
    const struct request *request;
    probe_job_t job;
    const char *backends; /* MEMSPAN_BACKENDS for the child; NULL: as it is */
    const char *alone;    /* MEMSPAN_DEVICES keeps only this backend's devices; NULL: all */
    bool without_plugins;
};

const struct failure *probe_failure(const struct request *request, const char *backend)
{
    for (size_t i = 0; i < request->failure_count; i++) {
        if (strcmp(request->failures[i].backend, backend) == 0) {
            return &request->failures[i];
        }
    }
    return NULL;
}

/* ---- in the child ---- */

static bool is_kept(const struct task *task, const char *entry, size_t length)
{
    char name[64];

    if (length >= sizeof(name)) {
        return true; /* the library reports it */
    }
    memcpy(name, entry, length);
    name[length] = '\0';
    if (task->alone != NULL) {
        return strcmp(name, task->alone) == 0;
    }
    return probe_failure(task->request, name) == NULL;
}

/* Leave devices of unused backends out of MEMSPAN_DEVICES. */
static void filter_devices(const struct task *task)
{
    const char *entry = cli_environment(CLI_MEMSPAN_DEVICES);
    char kept[4096]   = "";

    if ((entry == NULL) || (strlen(entry) >= sizeof(kept))) {
        return;
    }
    while (*entry != '\0') {
        size_t length = strcspn(entry, ",");

        if (is_kept(task, entry, strcspn(entry, ":,"))) {
            cli_append(kept, sizeof(kept), "%s%.*s", (kept[0] == '\0') ? "" : ",", (int)length,
                       entry);
        }
        entry += length + ((entry[length] == ',') ? 1 : 0);
    }
    if (kept[0] == '\0') {
        unsetenv("MEMSPAN_DEVICES");
    } else {
        setenv("MEMSPAN_DEVICES", kept, 1);
    }
}

static int do_task(void *context, FILE *out)
{
    const struct task *task = context;

    if (task->backends != NULL) {
        setenv("MEMSPAN_BACKENDS", task->backends, 1);
        filter_devices(task);
    }
    if (task->without_plugins) {
        unsetenv("MEMSPAN_BACKEND_PATH");
    }
    if (task->request->options->probe == PROBE_NONE) {
        setenv("MEMSPAN_BACKENDS", "host", 1);
        unsetenv("MEMSPAN_BACKEND_PATH");
        unsetenv("MEMSPAN_DEVICES");
    } else if ((task->request->options->probe == PROBE_FULL) &&
               (task->request->options->mode != MODE_CONFIG)) {
        share_start_helper(task->request->options->timeout_s);
    }
    return task->job(task->request, out);
}

static int list_backends(const struct request *request, FILE *out)
{
    const char *name;

    (void)request;
    for (int i = 0; (name = memspan_backend_name(i)) != NULL; i++) {
        fprintf(out, "%s\n", name);
    }
    return EXIT_YES;
}

/* ---- in the parent ---- */

static void run(struct task *task, struct cli_result *result_p)
{
    task->without_plugins = probe_failure(task->request, "MEMSPAN_BACKEND_PATH") != NULL;
    cli_child_run(&(struct cli_child){.work    = do_task,
                                      .context = task,
                                      .limit_s = task->request->options->timeout_s},
                  result_p);
    if (result_p->end == CLI_NOT_STARTED) {
        cli_complain("cannot start a process to probe the drivers: %s", strerror(result_p->code));
    }
}

/* Does the user's MEMSPAN_BACKENDS admit @p name? */
static bool is_admitted(const char *setting, const char *name)
{
    const char *entry = setting;
    bool inverted;

    if ((setting == NULL) || (setting[0] == '\0') || (strcmp(name, "host") == 0)) {
        return true;
    }
    inverted = (*entry == '^');
    entry += inverted ? 1 : 0;
    while (*entry != '\0') {
        size_t length = strcspn(entry, ",");

        if ((strlen(name) == length) && (strncmp(entry, name, length) == 0)) {
            return !inverted;
        }
        entry += length + ((entry[length] == ',') ? 1 : 0);
    }
    return inverted;
}

/* The last line that a child wrote before it failed: often the driver's message. */
static void append_last_line(char *what, size_t size_bytes, const struct cli_bytes *error)
{
    const char *begin;
    const char *end;
    char words[128];

    if (error->size_bytes == 0) {
        return;
    }
    end = error->data + error->size_bytes;
    while ((end > error->data) && ((end[-1] == '\n') || (end[-1] == ' '))) {
        end--;
    }
    for (begin = end; (begin > error->data) && (begin[-1] != '\n'); begin--) {
    }
    if (begin == end) {
        return;
    }
    snprintf(words, sizeof(words), "%.*s", (int)((end - begin < 120) ? (end - begin) : 120), begin);
    cli_clean(words);
    cli_append(what, size_bytes, "; its last words: %s", words);
}

static void describe_failure(const struct cli_result *result, char *what, size_t size_bytes)
{
    what[0] = '\0';
    switch (result->end) {
    case CLI_KILLED:
        cli_append(what, size_bytes, "crashed (signal %d, %s) while probed", result->code,
                   strsignal(result->code));
        break;
    case CLI_LEFT:
        cli_append(what, size_bytes, "ended the process (exit status %d) while probed",
                   result->code);
        break;
    case CLI_TIMED_OUT:
        cli_append(what, size_bytes, "did not answer within %g s", result->limit_s);
        break;
    case CLI_EXITED:
        cli_append(what, size_bytes, "failed only together with the other backends");
        return;
    case CLI_NOT_STARTED:
        cli_append(what, size_bytes, "could not be probed: the system gave no process");
        return;
    }
    append_last_line(what, size_bytes, &result->error);
}

static void add_failure(struct request *request, const char *backend,
                        const struct cli_result *result)
{
    struct failure *failure = &request->failures[request->failure_count];

    if (request->failure_count == sizeof(request->failures) / sizeof(request->failures[0])) {
        return;
    }
    request->failure_count++;
    snprintf(failure->backend, sizeof(failure->backend), "%s", backend);
    describe_failure(result, failure->what, sizeof(failure->what));
}

/* The names of all backends, a line each, without opening any; NULL on failure. */
static char *find_names(struct request *request)
{
    struct task task = {.request = request, .job = list_backends};
    struct cli_result result;
    char *names = NULL;

    run(&task, &result);
    if ((result.end != CLI_EXITED) && (cli_environment(CLI_MEMSPAN_BACKEND_PATH) != NULL)) {
        add_failure(request, "MEMSPAN_BACKEND_PATH", &result);
        cli_result_free(&result);
        run(&task, &result);
    }
    if (result.end == CLI_EXITED) {
        names = cli_calloc(result.out.size_bytes + 1, 1);
        memcpy(names, result.out.data, result.out.size_bytes);
    }
    cli_result_free(&result);
    return names;
}

/* Probe each backend by itself; false when the host's own fails, which is always needed. */
static bool find_failures(struct request *request, probe_job_t job, const char *names)
{
    char *copy = strdup(names);
    char *next = copy;
    char *name;
    bool host_works = true;

    while ((copy != NULL) && ((name = strsep(&next, "\n")) != NULL)) {
        struct task task = {.request = request, .job = job, .backends = name, .alone = name};
        struct cli_result result;

        if ((name[0] == '\0') || !is_admitted(request->user_backends, name)) {
            continue;
        }
        run(&task, &result);
        if (result.end != CLI_EXITED) {
            add_failure(request, name, &result);
            host_works = host_works && (strcmp(name, "host") != 0);
        }
        cli_result_free(&result);
    }
    free(copy);
    return host_works;
}

/* MEMSPAN_BACKENDS for the second attempt: the user's, without the failed ones. */
static char *choose_backends(const struct request *request, const char *names)
{
    size_t capacity = strlen(names) + 8;
    char *chosen    = cli_calloc(capacity, 1);
    char *copy      = strdup(names);
    char *next      = copy;
    char *name;

    while ((copy != NULL) && ((name = strsep(&next, "\n")) != NULL)) {
        if ((name[0] != '\0') && is_admitted(request->user_backends, name) &&
            (probe_failure(request, name) == NULL)) {
            cli_append(chosen, capacity, "%s%s", (chosen[0] == '\0') ? "" : ",", name);
        }
    }
    free(copy);
    return chosen;
}

/* None fails alone, but together they do: use the host alone and report the others. */
static void add_all_failures(struct request *request, const char *names)
{
    const struct cli_result together = {.end = CLI_EXITED};
    char *copy                       = strdup(names);
    char *next                       = copy;
    char *name;

    while ((copy != NULL) && ((name = strsep(&next, "\n")) != NULL)) {
        if ((name[0] != '\0') && (strcmp(name, "host") != 0) &&
            is_admitted(request->user_backends, name) && (probe_failure(request, name) == NULL)) {
            add_failure(request, name, &together);
        }
    }
    free(copy);
}

static void run_without_failures(struct request *request, probe_job_t job, const char *names,
                                 struct cli_result *result_p)
{
    char *backends   = choose_backends(request, names);
    struct task task = {.request = request, .job = job, .backends = backends};

    run(&task, result_p);
    free(backends);
    if (result_p->end == CLI_EXITED) {
        return;
    }
    cli_result_free(result_p);
    add_all_failures(request, names);
    task.backends = "host";
    run(&task, result_p);
}

static int report_failures(const struct request *request, const struct cli_result *first)
{
    char what[320];

    describe_failure(first, what, sizeof(what));
    cli_complain("the probe of this machine %s", what);
    for (size_t i = 0; i < request->failure_count; i++) {
        cli_complain("%s FAILED: %s", request->failures[i].backend, request->failures[i].what);
    }
    return EXIT_PROBE;
}

static void write_bytes(const struct cli_bytes *bytes, FILE *file)
{
    if (bytes->size_bytes > 0) {
        fwrite(bytes->data, 1, bytes->size_bytes, file);
    }
}

static int print(const struct options *options, const struct cli_result *result)
{
    write_bytes(&result->error, stderr);
    if (result->out.size_bytes > 0) {
        cli_fold(stdout, result->out.data, result->out.size_bytes,
                 (options->format == FORMAT_TABLE) ? cli_width(stdout) : 0);
    }
    if ((fflush(stdout) != 0) || ferror(stdout)) {
        cli_complain("cannot write the answer to standard output: %s", strerror(errno));
        return EXIT_PROBE;
    }
    return result->code;
}

/* The first attempt failed: find out why, and answer with the rest. */
static int answer_with_rest(struct request *request, probe_job_t job,
                            const struct cli_result *first)
{
    char *names = find_names(request);
    struct cli_result result;
    int code;

    if ((names == NULL) || !find_failures(request, job, names)) {
        free(names);
        return report_failures(request, first);
    }
    run_without_failures(request, job, names, &result);
    code = (result.end == CLI_EXITED) ? print(request->options, &result)
                                      : report_failures(request, first);
    cli_result_free(&result);
    free(names);
    return code;
}

int probe_answer(const struct options *options, probe_job_t job)
{
    struct request request = {.options       = options,
                              .user_backends = cli_environment(CLI_MEMSPAN_BACKENDS)};
    struct task task       = {.request = &request, .job = job};
    struct cli_result result;
    int code;

    run(&task, &result);
    switch (result.end) {
    case CLI_EXITED:
        code = print(options, &result);
        break;
    case CLI_NOT_STARTED:
        code = EXIT_PROBE;
        break;
    case CLI_KILLED:
    case CLI_LEFT:
    case CLI_TIMED_OUT:
    default:
        code = answer_with_rest(&request, job, &result);
        break;
    }
    cli_result_free(&result);
    return code;
}
