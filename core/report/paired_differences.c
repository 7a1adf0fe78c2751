/* SPDX-License-Identifier: MIT */
/* paired_differences.c: which cells of one seed are a pair, and what differences over seeds say. */
#include "report/table.h"

/* ---- pairs ---- */

/* A hash that an older engine did not record counts as equal. */
static bool differ(const struct result_cell *a, const struct result_cell *b, const char *hash)
{
    return value_differs(value_get(a->result, hash), value_get(b->result, hash));
}

const struct refusal_text refusals[REFUSALS] = {
    [OTHER_STOP] = {"other stop",
                    "one stops early (train.patience), the other is trained to its last step; "
                    "--mix-stopped compares them"},
    [OTHER_TASK] = {"other task", "different tasks, metrics or objectives"},
    [OTHER_BATCHES] = {"other batches", "different batches"},
    [OTHER_TARGETS] = {"other targets", "different numbers of scored targets (eval.tokens)"},
    [OTHER_INIT] = {"other weights", "different initial values in weights of the same shape"},
};

int pairs_refused(const struct pairs *p)
{
    int n = 0;
    for (int i = 0; i < REFUSALS; i++)
        n += p->refused[i];
    return n;
}

static bool same_number(const struct value *a, const struct value *b, const char *key)
{
    return json_get_int(a, key, -1) == json_get_int(b, key, -1);
}

static bool same_data(const struct result_cell *a, const struct result_cell *b)
{
    const struct value *x, *y;
    bool same = json_get_count(a->meta, "data") == json_get_count(b->meta, "data");
    for (int i = 0; same && (x = json_get_item(a->meta, "data", i)); i++) {
        y = json_get_item(b->meta, "data", i);
        same = same_text(json_get_text(x, "sha256"), json_get_text(y, "sha256"));
    }
    return same;
}

/* Batches are a function of task, data, seed and step, so a cell with fewer steps saw the first
 * batches of the other. Their hashes, over the first and the last batch, differ. */
static bool one_goes_on(const struct result_cell *a, const struct result_cell *b)
{
    const struct value *x = value_get(a->config, "train"), *y = value_get(b->config, "train");
    return x && y && !same_number(x, y, "steps") && same_number(x, y, "batch") &&
           same_number(x, y, "seq_len") && same_data(a, b);
}

bool pair_holds(const struct result_cell *a, const struct result_cell *b, struct pairs *p)
{
    bool other_init = differ(a, b, "init_hash");
    bool same_shapes =
        same_text(json_get_text(a->result, "init_shapes"), json_get_text(b->result, "init_shapes"));
    const bool refused[REFUSALS] = {
        [OTHER_STOP] = a->may_stop != b->may_stop,
        [OTHER_TASK] = a->task != b->task,
        [OTHER_BATCHES] = differ(a, b, "batch_hash") && !one_goes_on(a, b),
        [OTHER_TARGETS] = value_differs(value_get_path(a->config, "eval.tokens"),
                                        value_get_path(b->config, "eval.tokens")),
        [OTHER_INIT] = other_init && same_shapes};
    for (int i = 0; i < REFUSALS; i++)
        if (refused[i]) {
            p->refused[i]++;
            return false;
        }
    p->n++;
    p->by_data += other_init;
    return true;
}

/* ---- over seeds ---- */

struct difference difference_of(const double *d, int n, enum paired_test test)
{
    double mean = stats_mean(d, n), half = stats_ci_half(d, n);
    struct difference x = {.n = n,
                           .mean = mean,
                           .sd = stats_sd(d, n),
                           .ci_low = mean - half,
                           .ci_high = mean + half,
                           .dz = effect_dz(d, n),
                           .gz = effect_gz(d, n),
                           .text_half = (double)NAN,
                           .text_se = (double)NAN,
                           .text_df = (double)NAN};
    x.p = x.p_holm = paired_p(test, d, n);
    x.p_t = x.p_t_holm = paired_p(TEST_T, d, n);
    return x;
}

const struct statistic statistics[] = {
    {"diff", offsetof(struct difference, mean)},
    {"diff_sd", offsetof(struct difference, sd)},
    {"diff_ci_low", offsetof(struct difference, ci_low)},
    {"diff_ci_high", offsetof(struct difference, ci_high)},
    {"effect_dz", offsetof(struct difference, dz)},
    {"effect_gz", offsetof(struct difference, gz)},
    {"p", offsetof(struct difference, p)},
    {"p_holm", offsetof(struct difference, p_holm)},
    {"p_t", offsetof(struct difference, p_t)},
    {"p_t_holm", offsetof(struct difference, p_t_holm)},
    {"diff_text_half", offsetof(struct difference, text_half)},
    {"diff_text_df", offsetof(struct difference, text_df)},
    {NULL, 0},
};

int differences_adjust(struct difference *const *d, int n, struct arena *a)
{
    double *p = ARENA_ARRAY(a, n, double), *t = ARENA_ARRAY(a, n, double);
    int tested = 0;
    for (int i = 0; i < n; i++) {
        p[i] = d[i]->p;
        t[i] = d[i]->p_t;
        tested += !isnan(p[i]);
    }
    holm_adjust(p, n);
    holm_adjust(t, n);
    for (int i = 0; i < n; i++) {
        d[i]->p_holm = p[i];
        d[i]->p_t_holm = t[i];
    }
    return tested;
}

/* ---- JSON ---- */

void json_put_pairs(struct json map, const struct pairs *p)
{
    json_put_int(map, "n_pairs", p->n);
    json_put_int(map, "pairs_by_data", p->by_data);
    json_put_int(map, "pairs_refused", pairs_refused(p));
}

void json_put_difference(struct json map, const struct difference *d)
{
    for (const struct statistic *s = statistics; s->name; s++)
        json_put_number(map, s->name, statistic_of(d, s));
}
