/* SPDX-License-Identifier: BSD-3-Clause */
/* runner.c: a target without libFuzzer: runner CORPUS DICTIONARY COUNT.
 *
 * Feeds the files of the folder CORPUS as they are, then COUNT mutations of them, the same in every
 * run. A child does it, and the input at work is in memory that both share: however the child ends,
 * the parent can say on which input. None may take more than INPUT_SECONDS_MAX of processor time.
 */

#include "fuzz.h"
#include <dirent.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES_MAX = 256, WORDS_MAX = 128, INPUT_SECONDS_MAX = 3 };

struct bytes {
    size_t size;
    uint8_t at[FUZZ_TEXT_MAX];
};

static struct bytes files[FILES_MAX];
static size_t file_count;
static struct bytes words[WORDS_MAX];
static size_t word_count;
static uint64_t state = 0x9e3779b97f4a7c15u;

/* xorshift64*: the same numbers everywhere. */
static size_t random_below(size_t limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (limit == 0) ? 0 : (size_t)((state * 0x2545f4914f6cdd1du) >> 33) % limit;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool read_corpus(const char *folder)
{
    struct dirent **names;
    int n = scandir(folder, &names, NULL, by_name);

    for (int i = 0; i < n; i++) {
        char path[4096];
        FILE *file;

        snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        if ((names[i]->d_name[0] != '.') && (file_count < FILES_MAX) &&
            ((file = fopen(path, "rb")) != NULL)) {
            files[file_count].size = fread(files[file_count].at, 1, FUZZ_TEXT_MAX, file);
            file_count++;
            fclose(file);
        }
        free(names[i]);
    }
    if (n >= 0) {
        free(names);
    }
    return file_count > 0;
}

/* libFuzzer's format, without its escapes: one "word" a line. */
static bool read_words(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];

    while ((file != NULL) && (word_count < WORDS_MAX) &&
           (fgets(line, sizeof(line), file) != NULL)) {
        char *end = strrchr(line, '"');
        if ((line[0] == '"') && (end > line)) {
            words[word_count].size = (size_t)(end - line - 1);
            memcpy(words[word_count].at, line + 1, words[word_count].size);
            word_count++;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return word_count > 0;
}

/* Put @p size bytes in place of @p removed bytes at @p where, as far as there is room. */
static void replace(struct bytes *text, size_t where, size_t removed, const uint8_t *with,
                    size_t size)
{
    struct bytes old = *text;

    if (old.size - removed + size > FUZZ_TEXT_MAX) {
        return;
    }
    memcpy(text->at + where, with, size);
    memcpy(text->at + where + size, old.at + where + removed, old.size - where - removed);
    text->size = old.size - removed + size;
}

static void mutate(struct bytes *text)
{
    size_t where             = random_below(text->size + 1);
    size_t length            = random_below(text->size - where + 1);
    const struct bytes *word = &words[random_below(word_count)];
    const struct bytes *file = &files[random_below(file_count)];
    uint8_t byte             = (uint8_t)random_below(256);

    switch (random_below(6)) {
    case 0:
        replace(text, where, (where < text->size) ? 1 : 0, &byte, 1);
        break;
    case 1:
        replace(text, where, 0, &byte, 1);
        break;
    case 2:
        replace(text, where, (length < 8) ? length : random_below(8), &byte, 0);
        break;
    case 3:
        replace(text, where, (length < 4) ? length : 0, word->at, word->size);
        break;
    case 4: { /* a part of itself again */
        struct bytes copy = *text;
        replace(text, random_below(text->size + 1), 0, copy.at + where, length);
        break;
    }
    default: /* the end of another */
        where = random_below(file->size + 1);
        replace(text, text->size, 0, file->at + where, file->size - where);
        break;
    }
}

static void run(struct bytes *now, const struct bytes *input)
{
    static const struct itimerval limit = {.it_value = {.tv_sec = INPUT_SECONDS_MAX}};

    *now = *input;
    setitimer(ITIMER_PROF, &limit, NULL);
    LLVMFuzzerTestOneInput(input->at, input->size);
}

static void run_all(struct bytes *now, long count)
{
    for (size_t i = 0; i < file_count; i++) {
        run(now, &files[i]);
    }
    for (long i = 0; i < count; i++) {
        struct bytes input = files[random_below(file_count)];
        for (size_t changes = 1 + random_below(5); changes > 0; changes--) {
            mutate(&input);
        }
        run(now, &input);
    }
}

static void print_input(const struct bytes *now)
{
    fputs("the input, for printf(1): '", stderr);
    for (size_t i = 0; i < now->size; i++) {
        fprintf(stderr, "\\%03o", now->at[i]);
    }
    fputs("'\n", stderr);
}

int main(int argc, char **argv)
{
    struct bytes *now;
    int status = 0;
    pid_t child;

    if ((argc != 4) || !read_corpus(argv[1]) || !read_words(argv[2])) {
        fprintf(stderr, "usage: %s CORPUS DICTIONARY COUNT; no folder or file may be empty\n",
                argv[0]);
        return 2;
    }
    now = mmap(NULL, sizeof(*now), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (now == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    child = fork();
    if (child == 0) {
        run_all(now, atol(argv[3]));
        exit(EXIT_SUCCESS);
    }
    if ((child < 0) || (waitpid(child, &status, 0) != child)) {
        perror("fork");
        return 2;
    }
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != EXIT_SUCCESS)) {
        print_input(now);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
