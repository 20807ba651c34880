/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.c: --compare FILE: a run beside an earlier one, from the report that it wrote as JSON.
 *
 * The two were not interleaved, so a disturbance of the machine may fall on one of them alone: a
 * figure differs only where all rounds of the one are beyond all rounds of the other. */

#include "bench/common/bench.h"
#include <math.h>
#include <string.h>

/* Costs that are closer are the same; as in bench/compare.sh. */
static const double tolerance = 0.03;

enum verdict { SAME, NOISE, FASTER, SLOWER, VERDICT_COUNT };

static const char *const verdict_names[] = {"same", "noise", "faster", "slower"};

/* A figure of a row: what is compared, and the range of its rounds. */
struct figure {
    double value;
    double low;
    double high;
    double rounds;
    bool more; /* more is better */
};

/* ---- the earlier report ---- */

json_t *bench_compare_open(const char *path, const char *benchmark)
{
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    const char *name = json_string_value(json_object_get(document, "benchmark"));
    json_t *row;
    size_t i;

    if (document == NULL) {
        if (error.line < 0) {
            cli_complain("--compare: %s", error.text);
        } else {
            cli_complain("--compare: %s:%d:%d: %s", path, error.line, error.column, error.text);
        }
        return NULL;
    }
    if ((name == NULL) || !json_is_array(json_object_get(document, "rows"))) {
        cli_complain("--compare: %s is no report that %s BENCHMARK --json writes", path, cli_name);
    } else if (strcmp(name, benchmark) != 0) {
        cli_complain("--compare: %s is a report of %.40s, not of %s", path, name, benchmark);
    } else {
        json_array_foreach(json_object_get(document, "rows"), i, row)
        {
            if (!json_is_object(row)) {
                cli_complain("--compare: %s: rows[%zu] is no object", path, i);
                json_decref(document);
                return NULL;
            }
        }
        return document;
    }
    json_decref(document);
    return NULL;
}

/* ---- rows ---- */

/* Two rows with these equal, where they have them, are of one figure. */
static const char *const identity[] = {"point", "placement", "variant",     "phase",
                                       "peer",  "n",         "repetitions", NULL};

static bool is_same_row(const json_t *a, const json_t *b)
{
    for (size_t i = 0; identity[i] != NULL; i++) {
        json_t *left  = json_object_get(a, identity[i]);
        json_t *right = json_object_get(b, identity[i]);

        if ((left != right) && !json_equal(left, right)) {
            return false;
        }
    }
    return true;
}

static const json_t *find_row(json_t *rows, const json_t *like)
{
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        if (is_same_row(row, like)) {
            return row;
        }
    }
    return NULL;
}

static void name_row(const json_t *row, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; identity[i] != NULL; i++) {
        const json_t *value = json_object_get(row, identity[i]);

        if (json_is_string(value)) {
            cli_append(text, size, "%s%s", (text[0] == '\0') ? "" : " ", json_string_value(value));
        } else if (json_is_integer(value)) {
            cli_append(text, size, " %s=%lld", identity[i], (long long)json_integer_value(value));
        }
    }
}

/* The number in the first of these columns that the row has; NAN where it is unknown. */
static double number_of(const json_t *row, const char *const *columns)
{
    for (; *columns != NULL; columns++) {
        const json_t *value = json_object_get(row, *columns);

        if (value != NULL) {
            return json_is_number(value) ? json_number_value(value) : NAN;
        }
    }
    return NAN;
}

/* False where there is no figure. */
static bool read_figure(const json_t *row, struct figure *figure_p)
{
    const char *better = json_string_value(json_object_get(row, "better"));

    figure_p->value  = number_of(row, (const char *const[]){"best", "median", "median_ns", NULL});
    figure_p->low    = number_of(row, (const char *const[]){"median_min", "min", "min_ns", NULL});
    figure_p->high   = number_of(row, (const char *const[]){"median_max", "max", "max_ns", NULL});
    figure_p->rounds = number_of(row, (const char *const[]){"rounds", NULL});
    figure_p->more   = (better != NULL) && (strcmp(better, "more") == 0);
    return (figure_p->value > 0) && (figure_p->low > 0) && (figure_p->high > 0);
}

/* New / old of the cost: above 1 is slower. */
static double ratio_of(const struct figure *old, const struct figure *new)
{
    return new->more ? (old->value / new->value) : (new->value / old->value);
}

static enum verdict judge(const struct figure *old, const struct figure *new)
{
    double ratio = ratio_of(old, new);
    bool worse   = new->more ? (new->high < old->low) : (new->low > old->high);
    bool better  = new->more ? (new->low > old->high) : (new->high < old->low);

    if ((ratio <= 1 + tolerance) && (ratio >= 1 / (1 + tolerance))) {
        return SAME;
    }
    if (!(old->rounds >= 2) || !(new->rounds >= 2)) {
        return NOISE; /* one round has no range */
    }
    return ((ratio > 1) && worse) ? SLOWER : (((ratio < 1) && better) ? FASTER : NOISE);
}

/* ---- the comparison ---- */

static bool is_ours(const struct bench_run *run, const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "peer"));

    name = (name != NULL) ? name : json_string_value(json_object_get(row, "variant"));
    for (size_t p = 0; (p < run->peer_count) && (name != NULL); p++) {
        if (strcmp(run->peers[p].name, name) == 0) {
            return run->peers[p].role == BENCH_OURS;
        }
    }
    return false;
}

static const char *head_of(const json_t *document, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(document, "head"), key));

    return (text != NULL) ? text : "?";
}

static void print_head(const struct bench_run *run, const json_t *old)
{
    FILE *out = run->output.text;
    char text[512];

    snprintf(text, sizeof(text), "%s, measured %s", run->compare, head_of(old, "date"));
    cli_clean(text);
    fprintf(out, "\nBeside %s\n", text);
    if (strcmp(head_of(old, "machine"), run->output.machine.machine) != 0) {
        snprintf(text, sizeof(text), "%s", head_of(old, "machine"));
        cli_clean(text);
        fprintf(out, "on another machine: %s; the ratios are those of the machines too\n", text);
    }
}

static void add_row(struct cli_table *table, const char *name, const struct figure *old,
                    const struct figure *new, enum verdict verdict)
{
    cli_table_add(table, "%s", name);
    cli_table_add(table, "%s", bench_number_text(old->value).text);
    cli_table_add(table, "%s", bench_number_text(new->value).text);
    cli_table_add(table, "%.3f", ratio_of(old, new));
    cli_table_add(table, "%s", verdict_names[verdict]);
}

bool bench_compare_print(const struct bench_run *run, const struct bench_report *report,
                         const json_t *old)
{
    size_t counts[VERDICT_COUNT] = {0};
    size_t ours_slower           = 0;
    size_t count                 = 0;
    struct cli_table table;
    json_t *row;
    size_t i;

    print_head(run, old);
    cli_table_open(&table, "lrrrl");
    cli_table_add_row(&table, (const char *const[]){"point", "old", "new", "ratio", "verdict"});
    json_array_foreach(report->rows, i, row)
    {
        const json_t *before = find_row(json_object_get(old, "rows"), row);
        enum verdict verdict;
        struct figure figures[2];
        char name[256];

        if ((before == NULL) || !read_figure(before, &figures[0]) ||
            !read_figure(row, &figures[1])) {
            continue;
        }
        verdict = judge(&figures[0], &figures[1]);
        name_row(row, name, sizeof(name));
        add_row(&table, name, &figures[0], &figures[1], verdict);
        counts[verdict]++;
        ours_slower += ((verdict == SLOWER) && is_ours(run, row)) ? 1 : 0;
        count++;
    }
    cli_table_close(&table, run->output.text);
    fprintf(run->output.text,
            "ratio: new / old of the cost; %zu slower (%zu of ours), %zu faster, %zu within noise, "
            "%zu the same, of %zu in both\n",
            counts[SLOWER], ours_slower, counts[FASTER], counts[NOISE], counts[SAME], count);
    return ours_slower > 0;
}
