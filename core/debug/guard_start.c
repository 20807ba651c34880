/* SPDX-License-Identifier: BSD-3-Clause */
/* guard_start.c: the words of MEMSPAN_DEBUG, and the guard's beginning. */

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/option.h"
#include "core/debug/guard.h"
#include "core/debug/guard_report.h"
#include "core/debug/waits.h"
#include "core/engine/leak_roots.h"
#include <string.h>

enum {
    /* Closed pages that split mappings are limited: a process has 65530 of them
     * (vm.max_map_count) and needs some itself. */
    MAPPINGS_DEFAULT   = 65530,
    MAPPINGS_PER_BLOCK = 4,
};

static bool is_word(const char *text, size_t length, const char *word)
{
    return (strlen(word) == length) && (strncmp(text, word, length) == 0);
}

/* Reads the words of MEMSPAN_DEBUG; true when the guard is requested. */
static bool read_words(void)
{
    struct msp_guard_settings settings = {0};
    const char *text                   = msp_option_text(MSP_OPTION_DEBUG);
    bool guard                         = false;
    bool waits                         = false;
    const char *word;
    size_t length;

    for (word = text; *word != '\0'; word += length + (word[length] == ',')) {
        length = strcspn(word, ",");
        if (is_word(word, length, "guard")) {
            guard = true;
        } else if (is_word(word, length, "queues")) {
            waits = true;
        } else if (is_word(word, length, "report")) {
            settings.goes_on = true;
        } else if (is_word(word, length, "fail")) {
            settings.fails = true;
        } else if (is_word(word, length, "noleaks")) {
            settings.no_leaks = true;
        } else {
            msp_option_refuse(MSP_OPTION_DEBUG, "\"%.*s\" is none of its words",
                              (int)((length < 40) ? length : 40), word);
            return false;
        }
    }
    if (waits) {
        msp_waits_start();
    }
    if ((text[0] != '\0') && !guard && (strcmp(text, "queues") != 0)) {
        msp_option_refuse(MSP_OPTION_DEBUG, "the word guard is missing");
        return false;
    }
    msp_guard_settings = settings;
    return guard;
}

static void read_limits(void)
{
    uint64_t mappings;

    if (!msp_file_number("/proc/sys/vm/max_map_count", &mappings)) {
        mappings = MAPPINGS_DEFAULT;
    }
    msp_guard_settings.split_max = mappings / MAPPINGS_PER_BLOCK;
    msp_guard_settings.regions   = !msp_leak_roots_are_read() && msp_red_zone_regions();
    if (msp_guard_settings.regions) {
        msp_log(MEMSPAN_LOG_INFO, "guard", "pages are closed by guard regions, behind every block");
    } else {
        msp_log(MEMSPAN_LOG_INFO, "guard",
                "pages are closed by mprotect(), behind %llu blocks at most: guard regions need "
                "Linux 6.13, memory that is not locked, and no LeakSanitizer",
                (unsigned long long)msp_guard_settings.split_max);
    }
}

void msp_guard_start(void)
{
    struct msp_error_saved saved;

    msp_error_save(&saved);
    if (read_words()) {
        read_limits();
        msp_call_stack_start();
        msp_guard_fault_watch();
        msp_backend_set_describe(msp_guard_describe);
        msp_watch_set(MSP_WATCH_GUARD, true);
    }
    msp_error_restore(&saved);
}
