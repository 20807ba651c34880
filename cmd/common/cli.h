/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_COMMON_CLI_H
#define CMD_COMMON_CLI_H

/* The code that all programs share. It needs libc alone. */

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* message.c: messages to the user. */

/* The program's name, which begins each message; every program defines it. */
extern const char cli_name[];

/* One line on standard error, "NAME: ...", in one write: lines of several processes stay whole. */
void cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The candidate that @p word is probably a misspelling of, or NULL. */
const char *cli_nearest(const char *word, const char *const *candidates, size_t count);

/* environment.c: environment variables that the programs read themselves, and the environment of
 * their children. Variables of the libraries are in core/base/option.h and shmem/option.h. */

/* X(NAME, programs that read it, help text; "" keeps it out of --help) */
#define CLI_ENVIRONMENT_MAP(X)                                                                     \
    X(COLUMNS, "memquery memspan-bench", "width of tables, where it is not the terminal's")        \
    X(LD_LIBRARY_PATH, "memspan-bench", "")                                                        \
    X(LD_PRELOAD, "memspan-advise", "")                                                            \
    X(LIBMEMSPAN_ADVISE, "memspan-advise", "")                                                     \
    X(LIBMEMSPAN_ADVISE_FILTERS, "memspan-advise", "")                                             \
    X(MEMSPAN_BACKENDS, "memquery", "")                                                            \
    X(MEMSPAN_BACKEND_PATH, "memquery", "")                                                        \
    X(MEMSPAN_DEVICES, "memquery", "")                                                             \
    X(OSHRUN_LAUNCHER, "oshrun", "the launcher, unless --launcher names one")                      \
    X(PATH, "oshrun memspan-advise", "")                                                           \
    X(TMPDIR, "oshrun memspan-advise", "where temporary files are (/tmp)")

enum cli_variable {
#define CLI_VARIABLE(name, programs, help) CLI_##name,
    CLI_ENVIRONMENT_MAP(CLI_VARIABLE)
#undef CLI_VARIABLE
        CLI_VARIABLE_COUNT
};

/* Its value; NULL where it is not set, or in a set-user-id program. */
const char *cli_environment(enum cli_variable variable);

/* Print the section of --help on the variables of this program. */
void cli_environment_print(void);

/* @p base (NULL: this process's environment) without the variables that begin with an element of
 * @p dropped, and with the @p settings (NAME=VALUE). Lists end in NULL and may be NULL. The array
 * is new, the texts are shared; NULL without memory. */
char **cli_environment_make(char *const *base, const char *const *dropped, char *const *settings);

/* options.c: the command line as a table: a row an option, from which parser and --help are made.
 * Not getopt_long(), which guesses abbreviations and does not report the nearest option.
 *
 * "--name value" and "--name=value" are the same; a single letter may have its value attached
 * ("-n4"). The order of options does not matter; the last of two counts. */

/* The form of an option's value, and the type behind cli_option.value. */
enum cli_form {
    CLI_CONSTANT, /* int: becomes cli_option.constant; takes no value */
    CLI_SET,      /* bool: becomes true; takes no value */
    CLI_CLEAR,    /* bool: becomes false; takes no value */
    CLI_NUMBER,   /* int, within min .. max */
    CLI_DEVICE,   /* int: a device number, or "host" (-1) */
    CLI_COUNT,    /* size_t, with k m g t (powers of 1024), within min .. max */
    CLI_COUNTS,   /* struct cli_counts: a list of such, none twice */
    CLI_SECONDS,  /* double, within min .. max */
    CLI_WORD,     /* int: the index of one of the words */
    CLI_WORDS,    /* unsigned: a list of words, as bits */
    CLI_TEXT,     /* const char *, not empty */
    CLI_TEXTS,    /* struct cli_texts: each time one more, not empty */
    CLI_CALL,     /* read() takes the value */
    CLI_IGNORED,  /* accepted, without effect; takes no value */
    CLI_VERSION,  /* prints the program's name and version */
    CLI_HELP,     /* prints the help text */
    CLI_TITLE     /* no option: its help is a heading */
};

enum { CLI_COUNTS_MAX = 16, CLI_TEXTS_MAX = 8 };

struct cli_counts {
    size_t values[CLI_COUNTS_MAX];
    size_t count;
};

struct cli_texts {
    const char *values[CLI_TEXTS_MAX];
    size_t count;
};

struct cli_option {
    const char *names; /* "-o --output"; spellings behind a "|" are accepted, not shown */
    enum cli_form form;
    void *value;
    const char
        *shape;       /* the value in --help; "[=WORDS]": it may be left out; NULL: there is none */
    const char *help; /* NULL keeps the option out of --help */
    const char *const *words; /* NULL at their end */
    double min;
    double max;
    int constant;
    int values;  /* words that the option takes, each read by itself; 0: one */
    bool *given; /* set when the option is on the command line; or NULL */
    /* CLI_CALL: false after a message. The value is NULL where the option takes none. */
    bool (*read)(const struct cli_option *option, const char *value);
};

struct cli_usage {
    const char *synopsis; /* behind "usage: " */
    const char *summary;  /* the program's purpose; NULL: none */
    const struct cli_option *options;
    size_t option_count;
    const char *version;
    const char *notes;        /* at the end of --help; NULL: none */
    bool has_operands;        /* options end at the first word that is none, or at "--" */
    const char *operand_hint; /* without operands: the option that takes such a word; NULL: none */
};

enum cli_outcome {
    CLI_PARSED,
    CLI_SHOWN,  /* --help, --version or --complete (for shells): its text is on standard output */
    CLI_REFUSED /* a message has named the wrong word and the reason; some values may be set */
};

/* Read @p argv from element 1. With operands, *@p operand_p is the index of the first one;
 * otherwise it may be NULL. */
enum cli_outcome cli_parse(const struct cli_usage *usage, int argc, char *const *argv,
                           int *operand_p);

/* Read the value of one option, as cli_parse() reads the word behind it. */
bool cli_read_value(const struct cli_option *option, const char *value);

/* A byte count: digits, then k, m, g or t (powers of 1024) or nothing. More than fit is SIZE_MAX.
 */
bool cli_read_size(const char *text, size_t length, size_t *size_p);

/* False after the message "--name: "VALUE" REASON". */
bool cli_refuse(const struct cli_option *option, const char *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The help text. */
void cli_print_help(const struct cli_usage *usage);

/* child.c: one child process: a program, or a function that may crash or hang. Its output is
 * captured, its time limited, its end described. */

/* How a child ended. */
enum cli_end {
    CLI_EXITED,     /* a program, with any status; a function, with its whole answer */
    CLI_KILLED,     /* by a signal */
    CLI_LEFT,       /* a function that called exit() instead of returning */
    CLI_TIMED_OUT,  /* killed at its limit */
    CLI_NOT_STARTED /* the system gave no process or pipe */
};

/* The work of a child that is a function: prints its answer to @p out and returns a code. */
typedef int (*cli_work_t)(void *context, FILE *out);

struct cli_child {
    const char *path;            /* a program, with its arguments and environment; or NULL: work */
    char *const *arguments;      /* argv, NULL at its end */
    char *const *environment;    /* NULL: this process's */
    const cpu_set_t *processors; /* of the program; NULL: this process's */
    cli_work_t work;
    void *context;
    double limit_s;
    double grace_s; /* at the limit: from SIGTERM to SIGKILL; 0: SIGKILL at once */
};

struct cli_bytes {
    char *data; /* a NUL follows; NULL where nothing was written */
    size_t size_bytes;
};

struct cli_result {
    enum cli_end end;
    int code; /* exit status, or the result of the work; signal number; errno */
    double limit_s;
    double wall_s;          /* from before its start to after its end */
    double cpu_s;           /* of it and of the children that it waited for */
    struct cli_bytes out;   /* standard output; of a function its answer, empty unless CLI_EXITED */
    struct cli_bytes error; /* standard error, of a function standard output too; the last 64 KiB */
};

/* Run a child to its end. It leads a process group, which is killed at its end, and also when a
 * signal ends this process meanwhile. */
void cli_child_run(const struct cli_child *child, struct cli_result *result_p);

void cli_result_free(struct cli_result *result);

/* "killed by signal 11 (Segmentation fault)", "exited with status 3", "ran past its limit of 10 s",
 * "cannot be started: No such file or directory". Returns @p text. */
const char *cli_result_text(const struct cli_result *result, char *text, size_t size_bytes);

/* The same of a status that waitpid() gave. */
const char *cli_status_text(int status, char *text, size_t size_bytes);

/* In a child: lead a process group and die with the parent. False where it is dead already. */
bool cli_follow_parent(pid_t parent);

/* text.c: texts on their way out. */

/* Zeroed memory; without memory the process ends with status 3, after a message. */
void *cli_calloc(size_t count, size_t size_bytes);

/* The array with space for @p count + 1 elements, grown in powers of two; the rest is zero. */
void *cli_grow(void *array, size_t count, size_t size_bytes);

/* Append to a text of fixed size, truncating it. */
void cli_append(char *text, size_t size_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Replace unprintable and non-ASCII bytes by '?', in place: driver texts are arbitrary. */
void cli_clean(char *text);

/* "5 B", "64 KiB", "23.5 GiB"; "?" for UINT64_MAX. */
struct cli_size {
    char text[24];
};
struct cli_size cli_size_text(uint64_t size_bytes);

/* The text as a field of CSV: RFC 4180. */
void cli_put_csv(FILE *file, const char *text);

/* The text in XML; bytes beyond ASCII, which may not be valid UTF-8, become '?'. */
void cli_put_xml(FILE *file, const char *text);

/* Columns of the terminal that the file is, or COLUMNS; 0 where it is no terminal. */
int cli_width(FILE *file);

/* Bytes of the text, of @p length, that the next line has, of @p columns: it ends between
 * words, and a longer word is cut. Blanks follow, of which the next line has none. */
size_t cli_line(const char *text, size_t length, size_t columns);

/* Write the text in lines of at most @p width columns (0: unchanged), broken between words. The
 * rest of a line is indented to its last column where that leaves space, otherwise by four
 * blanks. */
void cli_fold(FILE *file, const char *text, size_t size_bytes, int width);

/* table.c: rows of words in columns as wide as their widest word; the first row is the heads. */

struct cli_table {
    size_t column_count;
    char *align; /* 'l' or 'r' a column, 'L' or 'R' a minor one; a left-aligned one is not padded at
                    the end of a line */
    char **cells;
    size_t cell_count;
};

/* The width of the terminal, for all tables; 0: none. */
void cli_table_limit(int width);

/* @p align has one letter per column. */
void cli_table_open(struct cli_table *table, const char *align);

/* Fill the next cell, left to right, row by row. An empty word is shown as "-". */
void cli_table_add(struct cli_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fill a row of words. */
void cli_table_add_row(struct cli_table *table, const char *const *words);

/* Free the table without printing it. */
void cli_table_free(struct cli_table *table);

/* Print the rows and free the table. Where it is wider than the terminal, columns without a value
 * are left out, then minor ones from the right, and a line names them. Remarks of the last column,
 * which stand behind two blanks, follow the table where they have no space in it. */
void cli_table_close(struct cli_table *table, FILE *out);

/* The same, but a table that is wider is printed in parts, each with the first column. */
void cli_table_close_parts(struct cli_table *table, FILE *out);

/* folder.c: folders for temporary files that go with the process, also when it is killed. */

/* Make one, as mkdtemp() does. A process of its own makes it, and removes it when this one ends,
 * however and whenever that is. False with errno. */
bool cli_folder_make(char *path);

/* The folder, and its contents on the same file system. */
void cli_folder_remove(const char *folder);

/* filter.c: filters of system calls (seccomp) that this process is under: their number where the
 * kernel has it (Linux 5.9), else whether there are any. By open, read and close, which the loader
 * makes too.
 */
int cli_filter_count(void);

#endif /* CMD_COMMON_CLI_H */
