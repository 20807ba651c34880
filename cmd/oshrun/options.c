/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line. Options end at the program's name. */

#include "cmd/common/cli.h"
#include "cmd/oshrun/oshrun.h"
#include <memspan/launch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_name[] = "oshrun";

static struct options parsed = {.kill_after_s = 10};
static size_t setting_count;
static size_t inherited_count;

static const char *const bindings[] = {"none", "core", NULL};      /* enum binding */
static const char *const modes[]    = {"auto", "on", "off", NULL}; /* enum serve_mode */

static bool add_setting(const struct cli_option *option, const char *value)
{
    const char *equals = strchr(value, '=');
    if (equals == value || *value == '\0') {
        return cli_refuse(option, value, "is not NAME=VALUE");
    }
    if (equals != NULL) {
        parsed.settings[setting_count++] = strdup(value);
    } else { /* PEs of this host inherit it anyway */
        parsed.inherited[inherited_count++] = strdup(value);
    }
    return true;
}

static bool add_hosts(const struct cli_option *option, const char *value)
{
    (void)option;
    return hosts_add_list(&parsed.hosts, "--hosts", value);
}

static bool add_hostfile(const struct cli_option *option, const char *value)
{
    (void)option;
    return hosts_add_file(&parsed.hosts, value);
}

/* "" and "oshrun" overrule OSHRUN_LAUNCHER. */
static bool take_launcher(const struct cli_option *option, const char *value)
{
    (void)option;
    parsed.launcher = value;
    return true;
}

static const struct cli_option rows[] = {
    {.names = "-n -np -c | --n --np",
     .form  = CLI_NUMBER,
     .value = &parsed.pe_count,
     .shape = "N",
     .min   = 1,
     .max   = MEMSPAN_LAUNCH_PES_MAX,
     .help  = "number of PEs (default: number of cores)"},
    {.names = "-l --tag-output | -tag-output",
     .form  = CLI_SET,
     .value = &parsed.tag_output,
     .help  = "begin each line of output with the number of its PE"},
    {.names = "--timeout",
     .form  = CLI_SECONDS,
     .value = &parsed.timeout_s,
     .shape = "SECONDS",
     .min   = 1e-9,
     .max   = 1e9,
     .help  = "end the job after that time, with status 124"},
    {.names = "--kill-after",
     .form  = CLI_SECONDS,
     .value = &parsed.kill_after_s,
     .shape = "SECONDS",
     .max   = 1e9,
     .help  = "kill PEs that outlive a forwarded SIGTERM or SIGHUP by that time (10; 0: never)"},
    {.names = "--bind-to | -bind-to",
     .form  = CLI_WORD,
     .value = &parsed.binding,
     .shape = "WHAT",
     .words = bindings,
     .help  = "none (default), or core: each PE on a core of its own"},
    {.names = "-x --env",
     .form  = CLI_CALL,
     .read  = add_setting,
     .shape = "NAME[=VALUE]",
     .help  = "set a variable for the PEs; may be repeated"},
    {.names = "--wdir | -wdir",
     .form  = CLI_TEXT,
     .value = &parsed.folder,
     .shape = "FOLDER",
     .help  = "working directory of the PEs"},
    {.names = "--pmix",
     .form  = CLI_WORD,
     .value = &parsed.pmix,
     .shape = "WHAT",
     .words = modes,
     .help  = "PMIx server: auto (default: unless the program is known not to need one), on, off"},
    {.names = "--hosts -H | -host --host -hosts",
     .form  = CLI_CALL,
     .read  = add_hosts,
     .shape = "HOST[:PES][,...]",
     .help  = "hosts and their numbers of PEs; prterun, mpirun or srun starts them"},
    {.names = "--hostfile | -hostfile -f",
     .form  = CLI_CALL,
     .read  = add_hostfile,
     .shape = "FILE",
     .help  = "the same from a file: lines HOST slots=PES"},
    {.names = "--launcher",
     .form  = CLI_CALL,
     .read  = take_launcher,
     .shape = "NAME",
     .help  = "have prterun, mpirun or srun start the PEs"},
    {.names = "-v --verbose",
     .form  = CLI_SET,
     .value = &parsed.verbose,
     .help  = "report why a PMIx server is missing, and how another launcher is called"},
    {.names = "--oversubscribe -oversubscribe --allow-run-as-root -allow-run-as-root",
     .form  = CLI_IGNORED},
    {.names = "-h --help", .form = CLI_HELP, .help = "this text"},
    {.names = "-V --version", .form = CLI_VERSION, .help = "version"},
};

static const struct cli_usage usage = {
    .synopsis     = "[OPTION]... PROGRAM [ARGUMENT]...",
    .summary      = "Start the PEs of an OpenSHMEM program, and end them together.",
    .options      = rows,
    .option_count = sizeof(rows) / sizeof(rows[0]),
    .version      = MEMSPAN_VERSION_STRING,
    .notes = "Several programs in one job (a : b) are for other launchers; after -- a colon is an "
             "argument.\n"
             "--oversubscribe and --allow-run-as-root are accepted and always on.\n",
    .has_operands = true};

static void refuse_arguments(const char *message) __attribute__((noreturn));
static void refuse_arguments(const char *message)
{
    cli_complain("%s (see --help)", message);
    exit(EXIT_USAGE);
}

/* PEs share the addresses of one program's variables, so a job has one program. Unchecked, the
 * rest of the line would become its arguments. */
static void refuse_several(char *const *arguments)
{
    for (; *arguments != NULL; arguments++) {
        if (strcmp(*arguments, ":") == 0) {
            refuse_arguments(
                "\":\" begins another program of the job, which is not supported: start one "
                "program that branches on its PE number; after -- the program gets \":\"");
        }
    }
}

/* PEs of several hosts find each other by the PMIx server of the launcher that starts them. */
static void check_hosts(void)
{
    if (parsed.hosts.count == 0) {
        return;
    }
    if (parsed.launcher != NULL && strcmp(parsed.launcher, "oshrun") == 0) {
        refuse_arguments(
            "--launcher=oshrun starts PEs of this host alone: leave out --hosts, or name "
            "prterun, mpirun or srun");
    }
    if (parsed.pmix == SERVE_OFF) {
        refuse_arguments("--pmix=off: PEs on several hosts find each other by PMIx");
    }
    if (parsed.pe_count > parsed.hosts.pe_count) {
        cli_complain("-n %d: the hosts are for %d PEs; give them as HOST:PES", parsed.pe_count,
                     parsed.hosts.pe_count);
        exit(EXIT_USAGE);
    }
    if (parsed.pe_count == 0) {
        parsed.pe_count = parsed.hosts.pe_count;
    }
}

void options_parse(int argc, char **argv, struct options *options_p)
{
    int operand      = 0;
    parsed.launcher  = cli_environment(CLI_OSHRUN_LAUNCHER);
    parsed.settings  = calloc((size_t)argc + 1, sizeof(*parsed.settings));
    parsed.inherited = calloc((size_t)argc + 1, sizeof(*parsed.inherited));
    if (parsed.settings == NULL || parsed.inherited == NULL) {
        cli_complain("out of memory");
        exit(1);
    }
    switch (cli_parse(&usage, argc, argv, &operand)) {
    case CLI_REFUSED:
        exit(EXIT_USAGE);
    case CLI_SHOWN:
        exit(fflush(stdout) == 0 ? 0 : 1);
    case CLI_PARSED:
        break;
    }
    if (operand >= argc) {
        refuse_arguments("no program given");
    }
    check_hosts();
    if (parsed.launcher != NULL &&
        (parsed.launcher[0] == '\0' || strcmp(parsed.launcher, "oshrun") == 0)) {
        parsed.launcher = NULL;
    }
    if (strcmp(argv[operand - 1], "--") != 0 && parsed.launcher == NULL) {
        refuse_several(argv + operand + 1);
    }
    parsed.program = argv + operand;
    *options_p     = parsed;
}
