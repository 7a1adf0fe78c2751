/* SPDX-License-Identifier: MIT */
/* thorough.c: the parent of random cases. */
#include "check/thorough.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "cases.h"

/* A process does so many seconds of cases; making one smaller takes no more than these. */
enum { SECONDS_EACH = 20, TRIES = 200, SECONDS_SMALLER = 30 };

/* A case that fails, and the words that set parameters for it. */
struct found {
    struct check_case c;
    int n_drawn;
    const char *drawn[CASE_SETTINGS];
    struct check_report report;
};

struct search {
    struct thorough *t;
    const struct check_request *q;
    struct arena *a;
    struct error *err;
    int tries;
    double until;
};

static bool is_bad(enum check_end end)
{
    return end != CHECK_END_PASSED && end != CHECK_END_SKIPPED;
}

/* ---- asking a process ---- */

/* The user's settings and then those that were drawn. */
static char **all_settings(const struct search *s, int n_drawn, const char *const *drawn)
{
    char **setting = ARENA_ARRAY(s->a, s->q->n_setting + n_drawn + 1, char *);
    for (int i = 0; i < s->q->n_setting; i++)
        setting[i] = s->q->setting[i];
    for (int i = 0; i < n_drawn; i++)
        setting[s->q->n_setting + i] = arena_strdup(s->a, drawn[i]);
    return setting;
}

static peat_status ask(struct search *s, const char *cases, int n_drawn, const char *const *drawn,
                       double seconds, struct check_report *report)
{
    struct check_request q = *s->q;
    q.setting = all_settings(s, n_drawn, drawn);
    q.n_setting += n_drawn;
    q.cases = cases;
    q.timeout += seconds;
    return check_apart(&q, check_cases.name, s->a, report, s->err);
}

/* ---- making it smaller ---- */

static peat_status try(struct search *s, const struct found *candidate, struct found *best,
                       bool *better)
{
    struct found f = *candidate;
    *better = false;
    if (s->tries++ >= TRIES || clock_seconds() > s->until)
        return PEAT_OK;
    peat_status status = ask(s, case_text(&f.c, s->a), f.n_drawn, f.drawn, 0, &f.report);
    if (status == PEAT_OK && is_bad(f.report.end)) {
        *best = f;
        *better = true;
    }
    return status;
}

static peat_status drop_settings(struct search *s, struct found *best, bool *any)
{
    peat_status status = PEAT_OK;
    for (int i = 0; i < best->n_drawn && status == PEAT_OK;) {
        struct found f = *best;
        bool better;
        memmove(&f.drawn[i], &f.drawn[i + 1], (size_t)(f.n_drawn - i - 1) * sizeof(*f.drawn));
        f.n_drawn--;
        status = try(s, &f, best, &better);
        *any = *any || better;
        i += !better;
    }
    return status;
}

static peat_status shrink_numbers(struct search *s, struct found *best, bool *any)
{
    struct found f = *best;
    peat_status status = PEAT_OK;
    for (int k = 0; status == PEAT_OK && case_smaller(&best->c, k, &f.c); k++) {
        bool better = false;
        f.n_drawn = best->n_drawn;
        memcpy(f.drawn, best->drawn, sizeof(f.drawn));
        if (memcmp(&f.c, &best->c, sizeof(f.c)) != 0)
            status = try(s, &f, best, &better);
        *any = *any || better;
    }
    return status;
}

/* One that never ends is taken as it is: each try would take as long. */
static peat_status make_smaller(struct search *s, struct found *best)
{
    bool any = best->report.end != CHECK_END_TIMEOUT;
    peat_status status = PEAT_OK;
    s->until = clock_seconds() + SECONDS_SMALLER;
    while (any && status == PEAT_OK) {
        any = false;
        status = drop_settings(s, best, &any);
        if (status == PEAT_OK)
            status = shrink_numbers(s, best, &any);
    }
    return status;
}

/* ---- finding one ---- */

static void keep(struct search *s, const struct found *f)
{
    struct thorough *t = s->t;
    t->report = f->report;
    t->text = case_text(&f->c, s->a);
    t->n_setting = s->q->n_setting + f->n_drawn;
    t->setting = all_settings(s, f->n_drawn, f->drawn);
}

/* What failed in a process of many, alone; one that only fails after others is told as it was. */
static peat_status look_at_case(struct search *s, const struct check_report *many)
{
    struct thorough *t = s->t;
    struct check_report described = {0};
    struct found f = {.report = *many}, alone;
    bool fails = false;
    const char *at = arena_printf(s->a, "at %" PRIu64 " %" PRId64, t->seed, t->index);
    peat_status status = ask(s, at, 0, NULL, 0, &described);
    if (status != PEAT_OK || !described.cases.text)
        return status;
    status = case_parse(&f.c, described.cases.text, s->err);
    f.n_drawn = described.cases.n_setting;
    memcpy(f.drawn, described.cases.setting, sizeof(f.drawn));
    if (status == PEAT_OK && many->end != CHECK_END_TIMEOUT) {
        s->until = clock_seconds() + SECONDS_SMALLER;
        status = try(s, &f, &alone, &fails);
        f = fails ? alone : f;
    }
    if (status == PEAT_OK && fails)
        status = make_smaller(s, &f);
    keep(s, &f);
    return status;
}

peat_status thorough_run(struct thorough *t, const struct check_request *q, struct arena *a,
                         struct error *err)
{
    struct search s = {.t = t, .q = q, .a = a, .err = err};
    double until = clock_seconds() + t->seconds;
    peat_status status = PEAT_OK;
    t->report = (struct check_report){.check = check_cases.name, .text = ""};
    for (double left = t->seconds; left > 0 && status == PEAT_OK; left = until - clock_seconds()) {
        struct check_report report;
        double seconds = left < SECONDS_EACH ? left : SECONDS_EACH;
        const char *from =
            arena_printf(a, "from %" PRIu64 " %" PRId64 " %g", t->seed, t->index, seconds);
        status = ask(&s, from, 0, NULL, seconds, &report);
        if (status != PEAT_OK)
            break;
        t->tried += report.cases.tried;
        t->refused += report.cases.refused;
        t->index = report.cases.index;
        t->report = report;
        if (is_bad(report.end))
            return look_at_case(&s, &report);
    }
    return status;
}
