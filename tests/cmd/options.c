/* SPDX-License-Identifier: BSD-3-Clause */
/* Every form of option: what is accepted, what is refused, and --help. */

#include "cmd/common/cli.h"
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

const char cli_name[] = "oshrun"; /* selects the variables in --help */

static struct values {
    bool flag;
    bool cleared;
    int format;
    int number;
    int device;
    size_t count;
    struct cli_counts counts;
    double seconds;
    int word;
    unsigned words;
    const char *text;
    struct cli_texts texts;
    const char *pair[2];
    size_t pair_count;
    bool words_given;
} values;

static bool read_call(const struct cli_option *option, const char *value)
{
    return (strcmp(value, "good") == 0) || cli_refuse(option, value, "is not %s", "good");
}

static bool read_pair(const struct cli_option *option, const char *value)
{
    if (strcmp(value, "bad") == 0) {
        return cli_refuse(option, value, "is bad");
    }
    values.pair[values.pair_count++] = value;
    return true;
}

static const char *const words[] = {"one", "two", NULL};

static const struct cli_option rows[] = {
    {.names = "--flag", .form = CLI_SET, .value = &values.flag, .help = "a flag"},
    {.names = "--no-flag", .form = CLI_CLEAR, .value = &values.cleared},
    {.names = "--json", .form = CLI_CONSTANT, .value = &values.format, .constant = 3},
    {.names = "-n --number | -np",
     .form  = CLI_NUMBER,
     .value = &values.number,
     .shape = "N",
     .min   = 1,
     .max   = 64,
     .help  = "a number"},
    {.names = "--device", .form = CLI_DEVICE, .value = &values.device, .shape = "D"},
    {.names = "--count", .form = CLI_COUNT, .value = &values.count, .shape = "N", .max = 1 << 30},
    {.names = "--counts", .form = CLI_COUNTS, .value = &values.counts, .shape = "N", .max = 1e30},
    {.names = "--seconds",
     .form  = CLI_SECONDS,
     .value = &values.seconds,
     .shape = "S",
     .min   = 0.5,
     .max   = 10},
    {.names = "-w --word", .form = CLI_WORD, .value = &values.word, .shape = "W", .words = words},
    {.names = "--words",
     .form  = CLI_WORDS,
     .value = &values.words,
     .shape = "[=W]",
     .words = words,
     .given = &values.words_given,
     .help  = "words"},
    {.names = "--text", .form = CLI_TEXT, .value = &values.text, .shape = "T"},
    {.names = "--texts", .form = CLI_TEXTS, .value = &values.texts, .shape = "T"},
    {.names = "--call", .form = CLI_CALL, .read = read_call, .shape = "C"},
    {.names = "--pair", .form = CLI_CALL, .read = read_pair, .values = 2, .shape = "A B"},
    {.names = "--ignored", .form = CLI_IGNORED},
    {.names = "-h --help", .form = CLI_HELP, .help = "this text"},
    {.names = "--version", .form = CLI_VERSION, .help = "version"},
};

static struct cli_usage usage = {.synopsis     = "[OPTION]...",
                                 .options      = rows,
                                 .option_count = sizeof(rows) / sizeof(rows[0]),
                                 .version      = "1.2",
                                 .operand_hint = "--text"};

#define PARSE(...)                                                                                 \
    parse((char *const[]){"program", __VA_ARGS__},                                                 \
          (int)(sizeof((char *[]){"program", __VA_ARGS__}) / sizeof(char *)))

static enum cli_outcome parse(char *const *arguments, int count)
{
    values = (struct values){.cleared = true, .device = 7};
    return cli_parse(&usage, count, arguments, NULL);
}

static void refused(const char *argument, const char *message)
{
    char *const arguments[] = {"program", (char *)(uintptr_t)argument};
    char text[512]          = "";
    int before              = dup(STDERR_FILENO);
    enum cli_outcome outcome;
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    (void)dup2(ends[1], STDERR_FILENO);
    outcome = parse(arguments, 2);
    (void)dup2(before, STDERR_FILENO);
    cr_assert_eq(outcome, CLI_REFUSED, "'%s' was accepted", argument);
    cr_assert_gt(read(ends[0], text, sizeof(text) - 1), 0);
    cr_assert(strstr(text, message), "'%s' was refused with: %s", argument, text);
    (void)close(before);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

Test(options, every_form)
{
    cr_assert_eq(PARSE("--flag", "--count=2k", "--counts", "1,3m", "--no-flag", "--device", "host",
                       "--words=two,one", "--text", "--flag", "--count", "5", "--seconds=0.5",
                       "--json", "--word", "two", "--call=good", "--ignored"),
                 CLI_PARSED);
    cr_assert(values.flag);
    cr_assert_not(values.cleared);
    cr_assert_eq(values.format, 3);
    cr_assert_eq(values.count, 5, "the last of two counts");
    cr_assert_eq(values.counts.count, 2);
    cr_assert_eq(values.counts.values[1], 3u << 20);
    cr_assert_eq(values.device, -1);
    cr_assert_eq(values.word, 1);
    cr_assert_eq(values.words, 3);
    cr_assert_float_eq(values.seconds, 0.5, 1e-9);
    cr_assert_str_eq(values.text, "--flag", "a value may look like an option");
}

Test(options, spellings)
{
    cr_assert_eq(PARSE("-n4"), CLI_PARSED);
    cr_assert_eq(values.number, 4);
    cr_assert_eq(PARSE("-np", "5", "-wtwo"), CLI_PARSED);
    cr_assert_eq(values.number, 5);
    cr_assert_eq(values.word, 1);
    cr_assert_eq(PARSE("-n=6", "--words"), CLI_PARSED);
    cr_assert_eq(values.number, 6);
    cr_assert(values.words_given);
    cr_assert_eq(values.words, 0);
}

Test(options, two_values)
{
    cr_assert_eq(PARSE("--pair", "a", "--flag", "--flag"), CLI_PARSED);
    cr_assert_eq(values.pair_count, 2);
    cr_assert_str_eq(values.pair[1], "--flag");
    cr_assert(values.flag);
    cr_assert_eq(PARSE("--pair=a", "b"), CLI_PARSED);
    cr_assert_str_eq(values.pair[0], "a");
    cr_assert_str_eq(values.pair[1], "b");
    cr_redirect_stderr();
    cr_assert_eq(PARSE("--pair", "a", "bad"), CLI_REFUSED);
    refused("--pair=a", "--pair needs 2 values: A B");
}

Test(options, texts_are_collected)
{
    char *many[2 * CLI_TEXTS_MAX + 3] = {"program"};

    cr_assert_eq(PARSE("--texts", "a,b", "--texts=c", "--texts", "--texts"), CLI_PARSED);
    cr_assert_eq(values.texts.count, 3);
    cr_assert_str_eq(values.texts.values[0], "a,b");
    cr_assert_str_eq(values.texts.values[2], "--texts");
    for (int i = 0; i <= CLI_TEXTS_MAX; i++) {
        many[2 * i + 1] = "--texts";
        many[2 * i + 2] = "x";
    }
    cr_assert_eq(parse(many, 2 * CLI_TEXTS_MAX + 1), CLI_PARSED);
    cr_redirect_stderr();
    cr_assert_eq(parse(many, 2 * CLI_TEXTS_MAX + 3), CLI_REFUSED, "one too many");
}

Test(options, operands)
{
    char *const plain[] = {"program", "--flag", "operand", "--no-flag", NULL};
    char *const ended[] = {"program", "--flag", "--", "--no-flag", NULL};
    int operand         = 0;

    usage.has_operands = true;
    values.cleared     = true;
    cr_assert_eq(cli_parse(&usage, 4, plain, &operand), CLI_PARSED);
    cr_assert_eq(operand, 2);
    cr_assert_eq(cli_parse(&usage, 4, ended, &operand), CLI_PARSED);
    cr_assert_eq(operand, 3);
    cr_assert(values.cleared, "what follows is not ours");
}

Test(options, refusals)
{
    static const char *const bad[][2] = {
        {"flag", "unexpected argument \"flag\"; did you mean --text flag?"},
        {"--flags", "unknown option --flags; did you mean --flag?"},
        {"--nonsense", "unknown option --nonsense (see --help)"},
        {"-flag", "unknown option -flag"},
        {"-hx", "unknown option -hx"},
        {"--", "unknown option --"},
        {"--flag=1", "--flag takes no value"},
        {"--count", "--count needs a value: N"},
        {"--count=", "--count: \"\" is not a count"},
        {"--count=k", "is not a count"},
        {"--count=1k1", "is not a count"},
        {"--count=1x", "is not a count"},
        {"--count=2g", "is out of range: 0 to 1073741824"},
        {"--count=99999999999999999999", "is out of range"},
        {"--count=99999999999999t", "is out of range"},
        {"--counts=1,", "--counts: \"\" is not a count"},
        {"--counts=1k,1024", "--counts: \"1024\" is listed twice"},
        {"-n0", "--number: \"0\" is out of range: 1 to 64"},
        {"--number=1k", "is not a number"},
        {"--number=-1", "is not a number"},
        {"--device=-2", "--device: \"-2\" is not a number"},
        {"--seconds=0.4", "is out of range: 0.5 to 10"},
        {"--seconds=nan", "is not a time in seconds"},
        {"--seconds=1s", "is not a time in seconds"},
        {"--word=three", "--word: \"three\" is not one of one, two"},
        {"--words=on", "is not one of one, two"},
        {"--words=", "--words: \"\" is not one of"},
        {"--text=", "--text: \"\" is empty"},
        {"--texts=", "is empty"},
        {"--call=bad", "--call: \"bad\" is not good"}};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        refused(bad[i][0], bad[i][1]);
    }
}

Test(options, help)
{
    char text[2048] = "";

    cr_redirect_stdout();
    cr_assert_eq(PARSE("--help"), CLI_SHOWN);
    cr_assert_eq(PARSE("--version"), CLI_SHOWN);
    fflush(stdout);
    cr_assert_gt(fread(text, 1, sizeof(text) - 1, cr_get_redirected_stdout()), 0);
    cr_assert(strstr(text, "usage: oshrun [OPTION]...\n"));
    cr_assert(strstr(text, "\n  -n, --number N   a number\n"));
    cr_assert(strstr(text, "\n      --words[=W]  words\n"));
    cr_assert_null(strstr(text, "--ignored"), "it has no help");
    cr_assert(strstr(text, "\n  OSHRUN_LAUNCHER "), "a variable that the program reads");
    cr_assert_null(strstr(text, "COLUMNS"), "a variable of another program");
    cr_assert(strstr(text, "\noshrun 1.2\n"));
}
