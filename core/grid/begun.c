/* SPDX-License-Identifier: MIT */
/* begun.c: counts what a run directory has already computed. */
#include "cell/cellmetrics.h"
#include "grid/claimfile.h"
#include "grid/trunks.h"
#include "train/generation.h"

/* One cell's curve. */
struct seen {
    int64_t step, evaluated; /* of the last line, and of the last evaluation */
    int evaluations;
};

static bool see_line(void *ctx, int line, const struct value *v)
{
    (void)line;
    struct seen *s = ctx;
    int64_t step = json_get_int(v, "step", 0);
    bool training = json_text_is(v, "split", "train");
    s->evaluations += v && !training && step != s->evaluated;
    s->evaluated = v && !training ? step : s->evaluated;
    s->step = step > s->step ? step : s->step;
    return true;
}

/* The last step that has a checkpoint; -1: there is none. */
static int64_t last_checkpoint(const char *dir)
{
    char **name;
    int n;
    int64_t last = -1;
    dir_list(path_in(dir, "ckpt").text, &name, &n, NULL);
    for (int i = 0; i < n; i++)
        last = generation_step(name[i]) > last ? generation_step(name[i]) : last;
    names_free(name, n);
    return last;
}

static void count_cell(const char *dir, struct begun *b)
{
    struct seen s = {.evaluated = -1};
    bool curve = metrics_each(dir, NULL, see_line, &s, NULL) == PEAT_OK;
    int64_t saved = last_checkpoint(dir);
    bool result = dir_has(dir, "result.json");
    b->results += result;
    b->cells += result || curve || saved >= 0 || dir_has(dir, "meta.json");
    b->steps += saved > s.step ? saved : s.step;
    b->evaluations += s.evaluations;
}

struct begun begun_count(const char *dir, struct arena *a)
{
    struct begun b = {0};
    const struct file_path cells = path_in(dir, "cells");
    char **name;
    int n;
    dir_list(cells.text, &name, &n, NULL);
    for (int i = 0; i < n; i++)
        count_cell(path_in(cells.text, name[i]).text, &b);
    names_free(name, n);
    int states;
    trunks_list(dir, a, &states);
    b.states = states;
    return b;
}
