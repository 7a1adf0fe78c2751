/* SPDX-License-Identifier: MIT */
/* retrain.c: chooses cells, trains them elsewhere, compares. */
#include "grid/retrain.h"

#include "cell/cellmeta.h"
#include "cell/cellmetrics.h"
#include "cell/thin.h"
#include "grid/jobs.h"

const char *const retrain_verdict_name[RETRAIN_VERDICTS] = {"same", "close", "differs",
                                                            "not comparable", "failed"};

static const double grace_seconds = 10;

/* ---- choosing ---- */

static bool can_retrain(const struct cell_files *c)
{
    return c->planned && c->result && c->config &&
           (cell_has_ended(c->state) || c->state == CELL_STALE);
}

/* The first `count` cells of a shuffle. */
static int retrain_choose(const struct rundir *r, const struct retraining *t,
                          const struct cell_files **cell)
{
    uint64_t stream = rng_stream((uint64_t)t->seed, "verify", "");
    int n = 0;
    for (int i = 0; i < r->n; i++)
        if (can_retrain(&r->cell[i]))
            cell[n++] = &r->cell[i];
    for (int i = 0; i < n - 1; i++) {
        int other = i + (int)(rng_bits(stream, (uint64_t)i) % (uint64_t)(n - i));
        const struct cell_files *c = cell[i];
        cell[i] = cell[other];
        cell[other] = c;
    }
    return n < t->count ? n : (int)t->count;
}

/* ---- comparing ---- */

/* Why the bits may differ; NULL: the same bits are expected. */
static const char *other_kernels(const struct value *was, const struct value *is, struct arena *a)
{
    for (const char *const *key = deciding_keys; *key; key++) {
        const char *one = json_text_or(was, *key, "not recorded");
        if (!json_text_is(is, *key, one))
            return arena_printf(a, "%s was '%s' and is '%s' here", *key, one,
                                json_text_or(is, *key, "not known"));
    }
    return NULL;
}

/* Training lines of a curve. */
struct losses {
    struct strbuf text;
    const struct strbuf *of; /* of another curve: only lines that it has too; NULL: all lines */
    bool thin;               /* the lines are compared as thinned curves have them */
};

static bool retrain_add_line(void *ctx, int line, const struct value *v)
{
    struct losses *x = ctx;
    struct strbuf text = STRBUF_NEW;
    (void)line;
    if (!json_text_is(v, "split", "train"))
        return true;
    if (x->thin)
        thin_add_short(&text, v);
    else
        json_print(v, JSON_CANONICAL, &text);
    if (!x->of || memmem(x->of->text, x->of->n, text.text, text.n))
        strbuf_add_bytes(&x->text, text.text, text.n);
    strbuf_release(&text);
    return true;
}

/* Compares only training losses: evaluations before the end may have had other lengths, which are
 * not part of a cell's identity. Of a thinned curve the lines that it has are compared, shortened.
 */
static bool same_curve(const struct cell_files *was, const struct cell_files *is, struct arena *a)
{
    bool thin = cell_thinned(was->dir, was->result, a);
    struct losses one = {STRBUF_NEW, NULL, thin};
    struct losses two = {STRBUF_NEW, thin ? &one.text : NULL, thin};
    bool same = metrics_each(was->dir, "\"train\"", retrain_add_line, &one, NULL) == PEAT_OK &&
                metrics_each(is->dir, "\"train\"", retrain_add_line, &two, NULL) == PEAT_OK &&
                one.text.n == two.text.n && memcmp(one.text.text, two.text.text, one.text.n) == 0;
    strbuf_release(&one.text);
    strbuf_release(&two.text);
    return same;
}

static const char *difference(const struct cell_files *was, const struct cell_files *is,
                              struct arena *a)
{
    static const char *const part[][2] = {{"state", "its end"},
                                          {"diverged", "its end"},
                                          {"batch_hash", "its batches"},
                                          {"init_hash", "its initial weights"},
                                          {"weights_hash", "its weights"},
                                          {"measures", "its values"}};
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
        const struct value *one = value_get(was->result, part[i][0]);
        const struct value *two = value_get(is->result, part[i][0]);
        if (!one || !two || !value_equal(one, two))
            return part[i][1];
    }
    return same_curve(was, is, a) ? NULL : "its curve";
}

/* Another order of sums gives other bits, and nearly the same values. *most: the largest relative
 * difference of a value. */
static const char *how_far(const struct cell_files *was, const struct cell_files *is, double *most,
                           struct arena *a)
{
    const struct value *one, *two;
    const char *of = "";
    *most = 0.0;
    for (int i = 0; (one = json_get_item(was->result, "measures", i)); i++) {
        two = result_measure(is->result, json_get_text(one, "metric"), json_get_text(one, "split"),
                             json_get_int(one, "length", 0));
        double x = json_get_number(one, "value"), y = json_get_number(two, "value");
        double apart = fabs(x - y) / fmax(fabs(x), DBL_MIN);
        if (x == y || apart <= *most)
            continue;
        *most = isnan(apart) ? (double)INFINITY : apart;
        of = json_get_text(one, "metric");
    }
    return arena_printf(a, "its values differ by %.2g at most, relatively%s%s", *most,
                        *of ? ": " : "", of);
}

static struct retrained retrain_compare(const struct cell_files *was, const char *scratch,
                                        const struct job *job, struct arena *a)
{
    struct cell_files is;
    struct error why = {0};
    struct retrained x = {was->label, RETRAIN_FAILED, job->end.reason ? job->end.reason : ""};
    if (!job->ended || !job->end.result ||
        rundir_read_cell(scratch, was->id, &is, a, &why) != PEAT_OK || !is.result)
        return x;
    double most;
    const char *apart = how_far(was, &is, &most, a), *by = json_get_text(was->meta, "trained_by");
    if (!same_text(json_get_text(was->meta, "arithmetic"), json_get_text(is.meta, "arithmetic"))) {
        x.verdict = most <= RETRAIN_NEAR ? RETRAIN_CLOSE : RETRAIN_DIFFERS;
        x.text = arena_printf(a, "another arithmetic; %s", apart);
        return x;
    }
    const char *kernels = other_kernels(was->meta, is.meta, a), *what = difference(was, &is, a);
    if (by)
        kernels = arena_printf(a, "another program trained it (%s)", by);
    x.verdict = !what ? RETRAIN_SAME : kernels ? RETRAIN_NOT_COMPARABLE : RETRAIN_DIFFERS;
    x.text = !what     ? ""
             : kernels ? arena_printf(a, "%s; %s", kernels, apart)
                       : arena_printf(a, "%s differ; %s", what, apart);
    return x;
}

/* ---- training ---- */

/* The cell's settings with other paths of data, which its hash does not cover. It trains all its
 * steps itself, even those that it shared. */
static const struct value *settled(const struct cell_files *c, const struct value *moved,
                                   struct arena *a)
{
    const struct json own = json_map(a);
    for (int i = 0; i < c->config->n; i++)
        if (strcmp(c->config->key[i], "trunk") != 0)
            json_put(own, c->config->key[i], c->config->item[i]);
    const struct value *config = own.v;
    for (int i = 0; moved && i < moved->n; i++)
        config = value_with_path(a, config, moved->key[i], moved->key_at[i], moved->item[i]);
    return config;
}

/* A missing file that the cell's weights start from; NULL: no file is missing. */
static const char *missing_start(const struct cell_files *c)
{
    const struct value *model = value_get(c->config, "model"), *start;
    const char *from = json_get_text(value_get(model, "embedding"), "from");
    if (from && !file_exists(from))
        return from;
    for (int i = 0; (start = json_get_item(model, "start", i)); i++) {
        from = json_get_text(start, "from");
        if (from && !file_exists(from))
            return from;
    }
    return NULL;
}

static peat_status train_one(const struct cell_files *c, const char *scratch, const char *program,
                             struct retraining *t, struct arena *a, struct error *err)
{
    const char *missing = missing_start(c);
    if (missing) {
        missing = arena_printf(a, "it starts from '%s', which is not here", missing);
        t->item[t->n++] = (struct retrained){c->label, RETRAIN_NOT_COMPARABLE, missing};
        return PEAT_OK;
    }
    struct progress progress;
    bool is_earlier = json_get_int(c->config, "arithmetic", 1) != CELL_ARITHMETIC;
    struct job job = {.id = c->id,
                      .label = c->label,
                      .dir = arena_printf(a, "%s/cells/%s", scratch, c->id),
                      .steps = json_get_int(value_get(c->config, "train"), "steps", 0),
                      .weight = 1,
                      .training = 1};
    progress_open(&progress, stderr, true);
    progress.total = 1;
    struct jobs jobs = {.dir = scratch,
                        .program = program,
                        .n = 1,
                        .job = &job,
                        .at_once = 1,
                        .threads = t->threads,
                        .gemm = cell_gemm(c),
                        .allow_drift = is_earlier,
                        .grace = grace_seconds,
                        .progress = &progress,
                        .arena = a};
    peat_status status = dir_make(job.dir, err);
    if (status == PEAT_OK)
        status = json_write_file(job.dir, "config.json", settled(c, t->moved, a), err);
    if (status != PEAT_OK)
        return status;
    jobs_run(&jobs);
    t->interrupted = jobs.interrupted;
    if (!t->interrupted)
        t->item[t->n++] = retrain_compare(c, scratch, &job, a);
    return PEAT_OK;
}

peat_status retrain_cells(const struct verification *v, struct retraining *t, const char *program,
                          struct error *err)
{
    struct arena *a = v->arena;
    struct own_dir scratch;
    const struct cell_files **cell = ARENA_ARRAY(a, v->dir.n + 1, const struct cell_files *);
    int n = retrain_choose(&v->dir, t, cell);
    t->item = ARENA_ARRAY(a, n + 1, struct retrained);
    peat_status status = own_dir_open(&scratch, "verify", err);
    if (status != PEAT_OK)
        return status;
    for (int i = 0; i < n && status == PEAT_OK && !t->interrupted; i++)
        status = train_one(cell[i], scratch.path, program, t, a, err);
    own_dir_close(&scratch);
    return status;
}
