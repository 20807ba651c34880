/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FUZZ_H
#define MEMSPAN_TESTS_FUZZ_H

/* A target is one file with the two functions below: it feeds made-up text to one parser and holds
 * the answer to what the parser's header promises. libFuzzer calls it, and so does runner.c. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The promise is broken: say which one, and end as a crash does. */
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { FUZZ_TEXT_MAX = 4096 };

/* The input as a string; one that ends where the memory does, so that a sanitizer sees a parser
 * that reads past its end. Freed by the caller. */
static inline char *fuzz_string(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (text == NULL) {
        exit(EXIT_FAILURE);
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    return text;
}

#endif /* MEMSPAN_TESTS_FUZZ_H */
