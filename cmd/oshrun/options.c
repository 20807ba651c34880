/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line. Options end where the program's name stands: what follows is the program's. */

#include "options.h"
#include <errno.h>
#include <memspan/launch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: oshrun [options] program [arguments]\n"
    "Start the PEs of an OpenSHMEM program on this node, and end them together.\n"
    "\n"
    "  -n, -np, -c N          how many PEs (default: as many as there are cores)\n"
    "  -l, --tag-output       begin each line of output with the number of its PE\n"
    "      --timeout SECONDS  end the job after that time, with status 124\n"
    "      --bind-to WHAT     none (default), or core: each PE on a core of its own\n"
    "  -x, --env NAME[=VALUE] set a variable for the PEs; may be repeated\n"
    "      --wdir FOLDER      run in that folder\n"
    "      --pmix WHAT        be a PMIx server too: auto (default: unless the program is known\n"
    "                         not to need one), on, or off\n"
    "      --launcher NAME    let mpirun, prterun or srun start the PEs instead\n"
    "  -v, --verbose          say why there is no PMIx server when there is none\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n"
    "\n"
    "Several programs in one job (a : b) are for other launchers; behind -- a colon is an "
    "argument.\n"
    "--oversubscribe and --allow-run-as-root are accepted: it is always so.\n"
    "OSHRUN_LAUNCHER is what --launcher is, unless that is given.\n";

void complain(const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    int length = snprintf(text, sizeof(text), "oshrun: ");
    vsnprintf(text + length, sizeof(text) - (size_t)length - 1, format, args);
    va_end(args);
    strcat(text, "\n");
    if (write(STDERR_FILENO, text, strlen(text)) < 0) {
        return; /* nobody listens */
    }
}

static void refuse(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void refuse(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    complain("%s (oshrun --help)", text);
    exit(EXIT_USAGE);
}

/* What is read, and where: the value of an option is the rest of its word after "=", or the next
 * word. */
struct reader {
    int argc;
    char **argv;
    int at;
};

static const char *value_of(struct reader *reader)
{
    char *word   = reader->argv[reader->at];
    char *equals = strchr(word, '=');
    if (word[1] == '-' && equals != NULL) {
        return equals + 1;
    }
    if (reader->at + 1 >= reader->argc) {
        refuse("%s needs a value", word);
    }
    reader->at++;
    return reader->argv[reader->at];
}

static int read_count(const char *text)
{
    char *end   = NULL;
    errno       = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < 1 ||
        number > (long)MEMSPAN_LAUNCH_PES_MAX) {
        refuse("\"%s\" is no number of PEs: 1 to %u", text, MEMSPAN_LAUNCH_PES_MAX);
    }
    return (int)number;
}

static double read_seconds(const char *text)
{
    char *end      = NULL;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0 && seconds < 1e9)) {
        refuse("\"%s\" is no time in seconds", text);
    }
    return seconds;
}

/* The index of the word, which must be one of them. */
static int read_word(const char *option, const char *text, const char *const *words)
{
    char all[128] = "";
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            return i;
        }
        snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i > 0 ? ", " : "", words[i]);
    }
    refuse("%s takes one of %s, not \"%s\"", option, all, text);
}

static void add_setting(struct options *options, int *count, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == text || *text == '\0') {
        refuse("\"%s\" is not NAME=VALUE", text);
    }
    if (equals == NULL) {
        return; /* the PEs have all of this process's environment */
    }
    options->settings[(*count)++] = strdup(text);
}

static bool is_option(const char *word, const char *short_name, const char *long_name)
{
    size_t length = long_name != NULL ? strlen(long_name) : 0;
    return (short_name != NULL && strcmp(word, short_name) == 0) ||
           (length > 0 && strncmp(word, long_name, length) == 0 &&
            (word[length] == '\0' || word[length] == '='));
}

/* True when the word is an option without a value. */
static bool read_switch(const char *word, struct options *options)
{
    if (is_option(word, "-h", "--help")) {
        fputs(help, stdout);
        exit(fflush(stdout) == 0 ? 0 : 1);
    }
    if (is_option(word, "-V", "--version")) {
        printf("oshrun %s\n", MEMSPAN_VERSION_STRING);
        exit(fflush(stdout) == 0 ? 0 : 1);
    }
    if (is_option(word, "-l", "--tag-output") || is_option(word, "-tag-output", NULL)) {
        options->tag_output = true;
        return true;
    }
    if (is_option(word, "-v", "--verbose")) {
        options->verbose = true;
        return true;
    }
    if (is_option(word, "-allow-run-as-root", "--allow-run-as-root")) {
        options->allow_root = true;
        return true;
    }
    return is_option(word, "-oversubscribe", "--oversubscribe");
}

static bool read_valued(struct reader *reader, struct options *options, int *setting_count)
{
    static const char *const bindings[] = {"none", "core", NULL};
    static const char *const modes[]    = {"auto", "on", "off", NULL};
    const char *word                    = reader->argv[reader->at];
    if (is_option(word, "-n", "--n") || is_option(word, "-np", "--np") ||
        is_option(word, "-c", NULL)) {
        options->pe_count = read_count(value_of(reader));
    } else if ((word[1] == 'n' || word[1] == 'c') && word[2] >= '0' && word[2] <= '9') {
        options->pe_count = read_count(word + 2); /* -n4 */
    } else if (is_option(word, NULL, "--timeout")) {
        options->timeout_s = read_seconds(value_of(reader));
    } else if (is_option(word, "-bind-to", "--bind-to")) {
        options->binding = (enum binding)read_word("--bind-to", value_of(reader), bindings);
    } else if (is_option(word, "-x", "--env")) {
        add_setting(options, setting_count, value_of(reader));
    } else if (is_option(word, "-wdir", "--wdir")) {
        options->folder = value_of(reader);
    } else if (is_option(word, NULL, "--pmix")) {
        options->pmix = (enum serve_mode)read_word("--pmix", value_of(reader), modes);
    } else if (is_option(word, NULL, "--launcher")) {
        options->launcher = value_of(reader);
    } else {
        return false;
    }
    return true;
}

/* Programs of one job share their variables' addresses: there is one program. Silently it would be
 * started with the rest of the line as its arguments. */
static void refuse_several(const struct reader *reader)
{
    for (int i = reader->at + 1; i < reader->argc; i++) {
        if (strcmp(reader->argv[i], ":") == 0) {
            refuse("\":\" begins another program of the job, which is not supported: start one "
                   "program "
                   "that looks at its PE's number; -- before the program hands \":\" on to it");
        }
    }
}

void options_parse(int argc, char **argv, struct options *options_p)
{
    struct options options = {.launcher = getenv("OSHRUN_LAUNCHER")};
    struct reader reader   = {argc, argv, 1};
    int setting_count      = 0;
    options.settings       = calloc((size_t)argc + 1, sizeof(*options.settings));
    if (options.settings == NULL) {
        complain("no memory");
        exit(1);
    }
    bool is_ended = false;
    for (; !is_ended && reader.at < argc && argv[reader.at][0] == '-'; reader.at++) {
        const char *word = argv[reader.at];
        if (strcmp(word, "--") == 0) {
            is_ended = true;
            continue;
        }
        if (!read_switch(word, &options) && !read_valued(&reader, &options, &setting_count)) {
            refuse("there is no option %s", word);
        }
    }
    if (reader.at >= argc) {
        refuse("which program?");
    }
    if (options.launcher != NULL &&
        (options.launcher[0] == '\0' || strcmp(options.launcher, "oshrun") == 0)) {
        options.launcher = NULL;
    }
    if (!is_ended && options.launcher == NULL) {
        refuse_several(&reader);
    }
    options.program = argv + reader.at;
    *options_p      = options;
}
