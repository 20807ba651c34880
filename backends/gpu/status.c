/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c: the driver's answers as our errors. Its own names and words are used, so that results
 * newer than this file are named as well. */

#include "backends/gpu/gpu.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct gpu_meaning *meaning_of(const struct gpu_state *state, int code)
{
    static const struct gpu_meaning other = {0, MEMSPAN_ERR_DRIVER, NULL};
    const struct gpu_meaning *row         = state->driver->meanings;

    while ((row->status != MEMSPAN_OK) && (row->code != code)) {
        row++;
    }
    return (row->status != MEMSPAN_OK) ? row : &other;
}

/* "CUDA_ERROR_OUT_OF_MEMORY: out of memory" */
static void explain(const struct gpu_state *state, int code, char *text, size_t size)
{
    const char *name  = NULL;
    const char *words = NULL;

    state->driver->explain(state, code, &name, &words);
    /* Some versions have no words but the name. */
    if ((name != NULL) && (words != NULL) && (strcmp(name, words) == 0)) {
        words = NULL;
    }
    snprintf(text, size, "%s%s%s", (name == NULL) ? "unknown answer" : name,
             (words == NULL) ? "" : ": ", (words == NULL) ? "" : words);
}

void gpu_forget_error(const struct gpu_state *state)
{
    if (state->driver->forget_error != NULL) {
        state->driver->forget_error(state);
    }
}

memspan_status_t gpu_error(const struct gpu_state *state, gpu_result_t answer, const char *format,
                           ...)
{
    const struct gpu_meaning *meaning = meaning_of(state, answer.code);
    char sentence[256];
    char words[128];
    va_list args;

    if (answer.code == GPU_RECORDED) {
        return memspan_error_last()->status;
    }
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    explain(state, answer.code, words, sizeof(words));
    gpu_forget_error(state);
    return state->services->fail(meaning->status, state->driver->name, answer.call, answer.code,
                                 words, meaning->hint, "%s", sentence);
}

memspan_status_t gpu_refuse(const struct gpu_state *state, memspan_status_t status,
                            const char *hint, const char *format, ...)
{
    char sentence[256];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return state->services->fail(status, state->driver->name, "", 0, "", hint, "%s", sentence);
}

static bool log_answer(const struct gpu_state *state, gpu_result_t answer,
                       enum memspan_log_level level, const char *what)
{
    char words[128];

    if (answer.code == GPU_RECORDED) {
        gpu_log_record(state, level, what);
    } else if (answer.code != GPU_SUCCESS) {
        explain(state, answer.code, words, sizeof(words));
        gpu_forget_error(state);
        state->services->log(level, state->driver->name,
                             state->driver->hex_codes ? "%s: %s: %#x %s" : "%s: %s: %d %s", what,
                             answer.call, (unsigned)answer.code, words);
    }
    return answer.code == GPU_SUCCESS;
}

bool gpu_log_failure(const struct gpu_state *state, gpu_result_t answer, const char *what)
{
    return log_answer(state, answer, MEMSPAN_LOG_WARN, what);
}

bool gpu_log_lack(const struct gpu_state *state, gpu_result_t answer, const char *what)
{
    return log_answer(state, answer,
                      (answer.code == GPU_NOT_SUPPORTED) ? MEMSPAN_LOG_INFO : MEMSPAN_LOG_WARN,
                      what);
}

void gpu_log_record(const struct gpu_state *state, enum memspan_log_level level, const char *what)
{
    state->services->log(level, state->driver->name, "%s: %s", what, memspan_error_text());
}

bool gpu_is_captured(int code)
{
    return (code >= GPU_CAPTURED_FIRST) && (code <= GPU_CAPTURED_LAST);
}
