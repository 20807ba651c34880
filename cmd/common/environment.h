/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_COMMON_ENVIRONMENT_H
#define CMD_COMMON_ENVIRONMENT_H

/* Environment variables that the programs read themselves, and the environment of what they start.
 * Variables of the libraries are in core/base/option.h and shmem/option.h. */

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
    X(PATH, "oshrun", "")                                                                          \
    X(TMPDIR, "oshrun memspan-advise", "where temporary files are (/tmp)")

enum cli_variable {
#define CLI_VARIABLE(name, programs, help) CLI_##name,
    CLI_ENVIRONMENT_MAP(CLI_VARIABLE)
#undef CLI_VARIABLE
        CLI_VARIABLE_COUNT
};

/* Its value; NULL where it is not set, or in a set-user-id program. */
const char *cli_environment(enum cli_variable variable);

/* Print what --help says of the variables of this program. */
void cli_environment_print(void);

/* @p base (NULL: this process's environment) without the variables that begin with an element of
 * @p dropped, and with the @p settings (NAME=VALUE). Lists end in NULL and may be NULL. The array
 * is new, the texts are shared; NULL without memory. */
char **cli_environment_make(char *const *base, const char *const *dropped, char *const *settings);

#endif /* CMD_COMMON_ENVIRONMENT_H */
