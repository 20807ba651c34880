/* SPDX-License-Identifier: BSD-3-Clause */
/* known.c SOURCE [PROCESSOR-SECONDS]: memory of three uses, each allocated by a function of its
 * own: a stream, words in no order, and what is kept. SOURCE: malloc, calloc, realloc, memalign,
 * memspan. Then a line for each, with the allocator that it came from. Status 1 when a word is not
 * as it should be.
 */

#include <malloc.h>
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 1 << 20, BYTES = WORDS * 8 };

static const char *source;
static const char *const use_names[] = {"stream", "scatter", "keep"};

static void *take(void)
{
    void *memory = NULL;

    if (strcmp(source, "memspan") == 0) {
        return memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, BYTES);
    }
    if (strcmp(source, "calloc") == 0) {
        memory = calloc(WORDS, 8);
        for (size_t i = 0; (memory != NULL) && (i < WORDS); i++) {
            if (((uint64_t *)memory)[i] != 0) {
                exit(1);
            }
        }
        return memory;
    }
    if (strcmp(source, "realloc") == 0) {
        memory = malloc(100000);
        memset(memory, 7, 100000);
        memory = realloc(memory, BYTES);
        return (((char *)memory)[99999] == 7) ? memory : NULL;
    }
    return (strcmp(source, "memalign") == 0) ? memalign(8192, BYTES) : malloc(BYTES);
}

static __attribute__((noinline)) uint64_t *take_stream(void)
{
    return take();
}

static __attribute__((noinline)) uint64_t *take_scatter(void)
{
    return take();
}

static __attribute__((noinline)) uint64_t *take_keep(void)
{
    return take();
}

/* Of the processor: on a busy machine too, setting an array once is a small part of all accesses.
 */
static double now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One pass over the stream and as many words in no order. */
static void use(uint64_t *stream, uint64_t *scatter)
{
    static uint64_t state = 1;

    for (size_t i = 0; i < WORDS; i++) {
        stream[i]++;
    }
    for (size_t i = 0; i < WORDS; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        scatter[state >> 44]++;
    }
}

/* A child changes what is its own. */
static bool fork_and_change(uint64_t *stream)
{
    uint64_t before = stream[WORDS / 2];
    pid_t child     = fork();
    uint64_t *own;
    int status;

    if (child == 0) {
        memset(stream, 1, BYTES);
        memset(malloc(BYTES), 1, BYTES);
        _exit(0);
    }
    own = calloc(WORDS, 8);
    if ((own == NULL) || (waitpid(child, &status, 0) != child) || (status != 0)) {
        return false;
    }
    before -= stream[WORDS / 2] + own[WORDS / 2];
    free(own);
    return before == 0;
}

static const char *allocator_of(const void *memory, memspan_allocator_info_t *info_p)
{
    memspan_pointer_info_t pointer = {.struct_size = sizeof(pointer)};

    *info_p = (memspan_allocator_info_t){.struct_size = sizeof(*info_p)};
    if ((memspan_pointer_kind(memory) == MEMSPAN_KIND_NONE) ||
        (memspan_pointer_describe(memory, &pointer) != MEMSPAN_OK) ||
        (memspan_allocator_describe(pointer.allocator, info_p) != MEMSPAN_OK)) {
        return "none";
    }
    return info_p->name;
}

int main(int argument_count, char **arguments)
{
    double seconds = (argument_count > 2) ? strtod(arguments[2], NULL) : 0.1;
    double began_s = now_s();
    uint64_t *memory[3];
    uint64_t passes  = 0;
    uint64_t sums[3] = {0};
    memspan_allocator_info_t info;
    bool good = true;

    source    = (argument_count > 1) ? arguments[1] : "malloc";
    memory[0] = take_stream();
    memory[1] = take_scatter();
    memory[2] = take_keep();
    for (int i = 0; i < 3; i++) {
        if (memory[i] == NULL) {
            return 1;
        }
        memset(memory[i], 0, BYTES);
    }
    while ((now_s() - began_s < seconds) || (passes < ((seconds > 1) ? 20 : 1))) {
        use(memory[0], memory[1]);
        passes++;
        if ((argument_count > 3) && (passes == 3)) {
            good = fork_and_change(memory[0]);
        }
    }
    for (int i = 0; i < 3; i++) {
        for (size_t w = 0; w < WORDS; w++) {
            sums[i] += memory[i][w];
        }
        printf("%s %s\n", use_names[i], allocator_of(memory[i], &info));
        if (strcmp(source, "memspan") == 0) {
            (void)memspan_free(memory[i]);
        } else {
            free(memory[i]);
        }
    }
    return (good && (sums[0] == passes * WORDS) && (sums[1] == passes * WORDS) && (sums[2] == 0))
               ? 0
               : 1;
}
