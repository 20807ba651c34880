/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.c: the command line of another launcher, and its run. */

#include "cmd/common/cli.h"
#include "cmd/common/clock.h"
#include "cmd/oshrun/oshrun.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <memspan/launch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TERM_TIMEOUT_S 5 /* a launcher has to end PEs on other hosts */

extern char **environ;

/* ---- command lines ---- */

struct words {
    const char **items; /* NULL at the end */
    size_t count;
    size_t capacity;
};

static void out_of_memory(void)
{
    cli_complain("out of memory");
    exit(1);
}

static void add(struct words *words, const char *word)
{
    if (words->count + 1 >= words->capacity) {
        words->capacity = words->capacity * 2 + 32;
        words->items    = realloc(words->items, words->capacity * sizeof(*words->items));
        if (words->items == NULL) {
            out_of_memory();
        }
    }
    words->items[words->count++] = word;
    words->items[words->count]   = NULL;
}

static void add_text(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_text(struct words *words, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) {
        out_of_memory();
    }
    add(words, text);
}

static bool has(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->items[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* What a program prints when it is asked by one option, on standard output and error: some versions
 * of srun list on the latter. Empty where it cannot be run. */
static char *answer_of(const char *program, const char *option)
{
    char *text   = NULL;
    size_t size  = 0;
    FILE *answer = open_memstream(&text, &size);
    int ends[2];
    if (answer == NULL || pipe2(ends, O_CLOEXEC) != 0) {
        out_of_memory();
    }
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execlp(program, program, option, (char *)NULL);
        _exit(EXIT_NOT_FOUND);
    }
    close(ends[1]);
    char part[512];
    for (ssize_t got = 1; pid > 0 && got != 0;) {
        got = read(ends[0], part, sizeof(part));
        if (got > 0) {
            fwrite(part, 1, (size_t)got, answer);
        } else if (got < 0 && errno != EINTR) {
            break;
        }
    }
    close(ends[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    fclose(answer);
    return text;
}

/* ---- variables ---- */

/* Variables that count for a PE wherever it runs; srun passes all of them. */
static const char *const carried[] = {"SHMEM", "SMA_", "MEMSPAN_",        "UCX_",
                                      "FI_",   "OMP_", "LD_LIBRARY_PATH="};

static bool is_carried(const char *entry)
{
    if (strncmp(entry, MEMSPAN_LAUNCH_VARIABLE "=", sizeof(MEMSPAN_LAUNCH_VARIABLE)) == 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof(carried) / sizeof(carried[0]); i++) {
        if (strncmp(entry, carried[i], strlen(carried[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void add_name(struct words *names, const char *entry)
{
    char *name = strndup(entry, strcspn(entry, "="));
    if (name == NULL) {
        out_of_memory();
    }
    if (has(names, name)) {
        free(name);
    } else {
        add(names, name);
    }
}

/* Names of variables to hand to other hosts. Those with a value are in this environment first. */
static struct words variables(const struct options *options)
{
    struct words names = {0};
    for (char **setting = options->settings; *setting != NULL; setting++) {
        putenv(*setting);
        add_name(&names, *setting);
    }
    for (char **name = options->inherited; *name != NULL; name++) {
        add_name(&names, *name);
    }
    for (char **entry = environ; options->hosts.count > 0 && *entry != NULL; entry++) {
        if (is_carried(*entry)) {
            add_name(&names, *entry);
        }
    }
    return names;
}

/* ---- launchers ---- */

/* Of this host's interfaces. */
static bool is_own_address(const char *name)
{
    struct ifaddrs *all = NULL;
    struct in_addr wanted;
    bool found = false;
    if (inet_pton(AF_INET, name, &wanted) != 1 || getifaddrs(&all) != 0) {
        return false;
    }
    for (struct ifaddrs *one = all; one != NULL && !found; one = one->ifa_next) {
        struct sockaddr_in address;
        if (one->ifa_addr != NULL && one->ifa_addr->sa_family == AF_INET) {
            memcpy(&address, one->ifa_addr, sizeof(address));
            found = address.sin_addr.s_addr == wanted.s_addr;
        }
    }
    freeifaddrs(all);
    return found;
}

/* "a:4,b:4". PRRTE, which is in Open MPI from 5 on, takes its own host's processors for its slots
 * where that is named by an address. */
static void add_host_list(struct words *words, const struct hosts *hosts)
{
    char *text     = NULL;
    size_t size    = 0;
    FILE *list     = open_memstream(&text, &size);
    const char *by = "";
    if (list == NULL) {
        out_of_memory();
    }
    for (size_t i = 0; i < hosts->count; i++, by = ",") {
        const char *name = hosts->items[i].name;
        fprintf(list, "%s%s:%d", by, is_own_address(name) ? "localhost" : name,
                hosts->items[i].pe_count);
    }
    fclose(list);
    add(words, text);
}

/* A name for each PE, which srun takes for a distribution. It counts the nodes itself: from 24.11
 * on it refuses --nodes beside that. */
static void add_host_of_each(struct words *words, const struct options *options)
{
    char *text     = NULL;
    size_t size    = 0;
    FILE *list     = open_memstream(&text, &size);
    const char *by = "--nodelist=";
    int left       = options->pe_count;
    if (list == NULL) {
        out_of_memory();
    }
    for (size_t i = 0; i < options->hosts.count; i++) {
        for (int k = 0; k < options->hosts.items[i].pe_count && left > 0; k++, left--, by = ",") {
            fprintf(list, "%s%s", by, options->hosts.items[i].name);
        }
    }
    fclose(list);
    add(words, text);
}

/* Options common to Open MPI's mpirun and PRRTE's prterun. PEs that share a processor, and root,
 * are always allowed. Without --bind-to, each host would bind its PEs to the same processors. */
static void add_mpirun(struct words *words, const struct options *options, bool is_prterun)
{
    struct words names = variables(options);
    if (geteuid() == 0) {
        add(words, "--allow-run-as-root");
    }
    if (options->hosts.count > 0) {
        add(words, "--host");
        add_host_list(words, &options->hosts);
    }
    if (is_prterun) {
        add(words, "--map-by");
        add(words, "slot:OVERSUBSCRIBE");
    } else {
        add(words, "--oversubscribe");
    }
    if (!is_prterun && options->hosts.count > 0) {
        add(words, "--map-by");
        add(words, "slot");
    }
    add(words, "--bind-to");
    add(words, options->binding == BIND_CORE ? "core" : "none");
    if (options->tag_output) {
        add(words, is_prterun ? "--output" : "--tag-output");
        if (is_prterun) {
            add(words, "tag");
        }
    }
    if (options->folder != NULL) {
        add(words, "--wdir");
        add(words, options->folder);
    }
    for (size_t i = 0; i < names.count; i++) {
        add(words, "-x");
        add(words, names.items[i]);
    }
    add(words, "-n");
    add_text(words, "%d", options->pe_count);
}

static void add_open_mpi(struct words *words, const struct options *options)
{
    add_mpirun(words, options, false);
}

static void add_prrte(struct words *words, const struct options *options)
{
    add_mpirun(words, options, true);
}

/* The first word that begins with @p prefix; NULL: none. */
static char *find_word(const char *text, const char *prefix)
{
    static const char between[] = " ,:\t\r\n";
    for (text += strspn(text, between); *text != '\0'; text += strspn(text, between)) {
        size_t length = strcspn(text, between);
        if (strncmp(text, prefix, strlen(prefix)) == 0) {
            return strndup(text, length);
        }
        text += length;
    }
    return NULL;
}

/* How srun and the PEs speak: PMIx where this Slurm has it, else PMI-2, whose plug-in takes the
 * PEs' PMI-1 too. A srun that lists nothing says itself what is wrong. */
static void add_plugin(struct words *words)
{
    char *list   = answer_of(words->items[0], "--mpi=list");
    char *plugin = find_word(list[0] != '\0' ? list : "pmix", "pmix");
    plugin       = plugin != NULL ? plugin : find_word(list, "pmi2");
    if (plugin == NULL) {
        list[strcspn(list, "\n")] = '\0';
        cli_complain("%s --mpi=list names neither pmix nor pmi2, by which PEs find each other, but "
                     "\"%.200s\"; install Slurm's plug-in of PMI, or use --launcher mpirun",
                     words->items[0], list);
        exit(EXIT_CANNOT_RUN);
    }
    add_text(words, "--mpi=%s", plugin);
    free(plugin);
    free(list);
}

static void add_srun(struct words *words, const struct options *options)
{
    variables(options); /* srun hands its environment over */
    add_plugin(words);
    add(words, "--overcommit");
    add(words, "--kill-on-bad-exit=1");
    add(words, options->binding == BIND_CORE ? "--cpu-bind=cores" : "--cpu-bind=none");
    if (options->hosts.count > 0) {
        add(words, "--distribution=arbitrary");
        add_host_of_each(words, options);
    }
    if (options->tag_output) {
        add(words, "--label");
    }
    if (options->folder != NULL) {
        add_text(words, "--chdir=%s", options->folder);
    }
    add(words, "-n");
    add_text(words, "%d", options->pe_count);
}

/* Anything else: -n N. */
static void add_count(struct words *words, const struct options *options)
{
    variables(options);
    add(words, "-n");
    add_text(words, "%d", options->pe_count);
}

static const struct launcher {
    const char *name;
    void (*add)(struct words *words, const struct options *options);
    const char *version_words; /* of --version, where other programs have that name; or NULL */
    const char *number;        /* its variable with the number of the PE; NULL: unknown */
} launchers[] = {
    {"prterun", add_prrte, NULL, "PMIX_RANK"},
    {"mpirun", add_open_mpi, "Open MPI", "PMIX_RANK"},
    {"srun", add_srun, NULL, "SLURM_PROCID"},
};

enum { LAUNCHER_COUNT = sizeof(launchers) / sizeof(launchers[0]) };

static const struct launcher other = {"", add_count, NULL, NULL};

/* By the start of its file's name: mpirun.openmpi is mpirun. */
static const struct launcher *recognise(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *base  = slash != NULL ? slash + 1 : program;
    if (strncmp(base, "mpiexec", 7) == 0 || strncmp(base, "orterun", 7) == 0) {
        base = "mpirun";
    }
    for (size_t i = 0; i < LAUNCHER_COUNT; i++) {
        if (strncmp(base, launchers[i].name, strlen(launchers[i].name)) == 0) {
            return &launchers[i];
        }
    }
    return &other;
}

static bool is_on_path(const char *name)
{
    const char *folders = cli_environment(CLI_PATH);
    folders             = folders != NULL ? folders : "/usr/local/bin:/usr/bin:/bin";
    while (*folders != '\0') {
        int length = (int)strcspn(folders, ":");
        char path[4096];
        snprintf(path, sizeof(path), "%.*s/%s", length, folders, name);
        if (length > 0 && access(path, X_OK) == 0) {
            return true;
        }
        folders += length + (folders[length] == ':' ? 1 : 0);
    }
    return false;
}

/* MPICH's mpirun has that name too, and has no PMIx. */
static bool is_really(const struct launcher *launcher)
{
    if (launcher->version_words == NULL) {
        return true;
    }
    char *answer = answer_of(launcher->name, "--version");
    bool found   = strstr(answer, launcher->version_words) != NULL;
    free(answer);
    return found;
}

static const char *find(void)
{
    const char *stranger = NULL;
    for (size_t i = 0; i < LAUNCHER_COUNT; i++) {
        if (!is_on_path(launchers[i].name)) {
            continue;
        }
        if (is_really(&launchers[i])) {
            return launchers[i].name;
        }
        stranger = launchers[i].name;
    }
    cli_complain("PEs on other hosts need prterun, Open MPI's mpirun or srun, and %s%s; install "
                 "openmpi-bin (Debian), openmpi (Red Hat) or prrte, or name a launcher by "
                 "--launcher or OSHRUN_LAUNCHER",
                 stranger != NULL ? stranger : "none of them",
                 stranger != NULL ? " here is another MPI's" : " is on PATH");
    exit(EXIT_NOT_FOUND);
}

/* ---- running it ---- */

static void execute(char *const *words)
{
    execvp(words[0], words);
    cli_complain("cannot run %s: %s", words[0], strerror(errno));
    _exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

/* The next signal; 0 at the time limit. */
static int next_signal(const sigset_t *set, double until_s)
{
    siginfo_t info;
    double left_s = until_s - cli_clock_s();
    left_s        = left_s < 0 ? 0 : left_s > 1e6 ? 1e6 : left_s;

    struct timespec left = {(time_t)left_s, (long)((left_s - (double)(time_t)left_s) * 1e9)};
    int number           = sigtimedwait(set, &info, &left);
    if (number < 0) {
        return cli_clock_s() >= until_s ? 0 : SIGCHLD; /* SIGCHLD: look, and wait again */
    }
    /* The terminal sends its signals to the launcher as well. */
    return info.si_code == SI_KERNEL ? SIGCHLD : number;
}

/* Wait for the launcher, end it at the time limit. */
static void supervise(pid_t pid, double limit_s, const sigset_t *set)
{
    double until_s = cli_clock_s() + limit_s;
    bool is_late   = false;
    int status     = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        int number = next_signal(set, until_s);
        if (number != 0 && number != SIGCHLD) {
            kill(pid, number);
        } else if (number == 0 && is_late) {
            kill(pid, SIGKILL);
        } else if (number == 0) {
            cli_complain("time limit of %g s reached (--timeout); ending the job", limit_s);
            is_late = true;
            until_s = cli_clock_s() + TERM_TIMEOUT_S;
            kill(pid, SIGTERM);
        }
    }
    if (is_late) {
        exit(EXIT_TIMEOUT);
    }
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void run_with_limit(char *const *words, double limit_s)
{
    sigset_t set;
    sigset_t before;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    sigprocmask(SIG_BLOCK, &set, &before);
    pid_t parent = getpid();
    pid_t pid    = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) {
            _exit(EXIT_CANNOT_RUN);
        }
        sigprocmask(SIG_SETMASK, &before, NULL);
        execute(words);
    }
    if (pid < 0) {
        cli_complain("cannot start %s: %s", words[0], strerror(errno));
        exit(EXIT_CANNOT_RUN);
    }
    supervise(pid, limit_s, &set);
}

static void show(const struct words *words)
{
    char line[1024];
    size_t length = 0;
    for (size_t i = 0; i < words->count && length < sizeof(line); i++) {
        length += (size_t)snprintf(line + length, sizeof(line) - length, " %s", words->items[i]);
    }
    cli_complain("running%s", line);
}

/* A shell gives each PE its numbers and runs the program: a missing one is status 127 with any
 * launcher. */
static void add_shell(struct words *words, const char *number, int pe_count)
{
    add(words, "/bin/sh");
    add(words, "-c");
    add_text(words, "OSHRUN_PE=$%s OSHRUN_PES=%d; export OSHRUN_PE OSHRUN_PES; exec \"$0\" \"$@\"",
             number, pe_count);
}

void launcher_run(const struct options *options)
{
    const char *name = options->launcher != NULL ? options->launcher : find();

    const struct launcher *launcher = recognise(name);
    struct words words              = {0};
    if (launcher == &other && options->hosts.count > 0) {
        cli_complain("--hosts: the launcher %s is not known; prterun, mpirun and srun are", name);
        exit(EXIT_USAGE);
    }
    add(&words, name);
    launcher->add(&words, options);
    if (launcher->number != NULL) {
        add_shell(&words, launcher->number, options->pe_count);
    }
    for (char **word = options->program; *word != NULL; word++) {
        add(&words, *word);
    }
    if (options->verbose) {
        show(&words);
    }
    char *const *line = (char *const *)words.items;
    if (options->timeout_s > 0) {
        run_with_limit(line, options->timeout_s);
    }
    execute(line);
    exit(EXIT_CANNOT_RUN);
}
