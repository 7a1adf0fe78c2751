/* SPDX-License-Identifier: MIT */
/* celldiagnosis.c: rebuilding a trained cell, and the head of its diagnosis. */
#include "diagnose/celldiagnosis.h"

#include "cell/cellmeta.h"
#include "cell/reopen.h"
#include "cell/start.h"
#include "grid/stale.h"
#include "rounded.h"
#include "tables.h"
#include "tensor/gemm.h"
#include "train/checkpoint.h"
#include "train/generation.h"

/* ---- weights ---- */

static bool find_weights(struct cell_diagnosis *d, struct error *err)
{
    const struct file_path all = path_in(d->cell->dir, "ckpt");
    char *newest = checkpoint_latest(all.text);
    if (newest)
        d->generation = arena_strdup(&d->arena, newest);
    else
        error_set(err, PEAT_NOTFOUND, "cell '%s' has no weights in '%s': %s", d->cell->label,
                  all.text,
                  d->cell->result ? "they are gone or damaged" : "it was not trained yet");
    free(newest);
    return d->generation;
}

static bool load_weights(struct cell_diagnosis *d, struct error *err)
{
    struct named_tensor *tensor;
    int n;
    const struct file_path path = path_in(d->generation, GENERATION_MODEL);
    d->step = d->assembly.model.weights.step = generation_step(path_name(d->generation));
    return safetensors_read(path.text, &d->arena, &tensor, &n, NULL, err) == PEAT_OK &&
           hash_file(path.text, d->weights, err) == PEAT_OK &&
           generation_fill(&d->assembly.model.weights, tensor, n, path.text, err) == PEAT_OK;
}

/* ---- opening ---- */

/* Diagnoses follow a token from its place to its logits, so they refuse other models. */
static bool can_be_read(const struct cell_diagnosis *d, struct error *err)
{
    const struct model_config *m = &d->config.model;
    const char *has = m->arch == PEAT_SEQ2SEQ         ? "has two sequences"
                      : m->norm_place != NORM_BEFORE  ? "has model.norm_place: after"
                      : m->head != PEAT_HEAD_TOKENS   ? "predicts classes"
                      : m->input != PEAT_INPUT_TOKENS ? "reads patches"
                                                      : NULL;
    if (has)
        error_set(err, PEAT_INVALID,
                  "cell '%s' %s; diagnose reads decoders and encoders with model.norm_place: "
                  "before, model.input: tokens and model.head: tokens",
                  d->cell->id, has);
    return !has;
}

static void begin(struct cell_diagnosis *d, const struct cell_files *cell, const struct team *team,
                  struct trail *trail)
{
    *d = (struct cell_diagnosis){.cell = cell, .assembly = {.trail = trail}};
    arena_init(&d->arena, "diagnosed cell", 1 << 20);
    subject_init(&d->subject, &d->assembly.model, team, 0);
}

static bool open_untrained(struct cell_diagnosis *d, int n_batch, struct error *err)
{
    const struct cell_files *cell = d->cell;
    const struct recorded_cell recorded = {cell->label, cell->dir, cell->config, cell->meta};
    struct arena *a = &d->arena;
    return cell_reopen(&d->config, &recorded, "a diagnosis", &d->registry, a, err) == PEAT_OK &&
           can_be_read(d, err) &&
           assemble(&d->assembly, &d->config, a, PEAT_F64, false, err) == PEAT_OK &&
           subject_read(&d->subject, &d->assembly.task, n_batch, err) == PEAT_OK;
}

peat_status cell_diagnosis_open_start(struct cell_diagnosis *d, const struct cell_files *cell,
                                      const struct team *team, struct trail *trail,
                                      struct error *err)
{
    begin(d, cell, team, trail);
    if (open_untrained(d, 1, &d->subject.err))
        start_apply(&d->assembly, &d->config, &d->subject.err);
    return subject_status(&d->subject, err);
}

peat_status cell_diagnosis_open(struct cell_diagnosis *d, const struct cell_files *cell,
                                int n_batch, const struct team *team, struct trail *trail,
                                struct error *err)
{
    begin(d, cell, team, trail);
    struct error *own = &d->subject.err;
    if (find_weights(d, own) && open_untrained(d, n_batch, own) &&
        (d->subject.start = tables_find(&d->subject)) && load_weights(d, own))
        d->changed = stale_reason(cell, cell_plugins(&d->config, &d->arena), &d->arena);
    return subject_status(&d->subject, err);
}

void cell_diagnosis_close(struct cell_diagnosis *d)
{
    subject_release(&d->subject);
    arena_release(&d->arena);
}

/* ---- the head ---- */

static double mean_loss(struct subject *s)
{
    double nll = 0.0;
    int64_t targets = 0;
    for (int i = 0; i < s->n_batch; i++)
        trace_loss(s, &s->batch[i], NULL, &nll, &targets);
    return targets > 0 ? nll / (double)targets : (double)NAN;
}

static const char *schemes_text(const struct cell_diagnosis *d, struct arena *a)
{
    const char *text = "none";
    for (int i = 0; i < d->config.n_scheme; i++)
        text = i == 0 ? d->assembly.positional.scheme[i].part.id
                      : arena_printf(a, "%s+%s", text, d->assembly.positional.scheme[i].part.id);
    return text;
}

static void add_notes(const struct cell_diagnosis *d, bool moving_token, struct json list)
{
    struct arena *a = list.a;
    int64_t T = d->assembly.task.plan.eval_T[0];
    if (d->changed)
        json_add_text(list, arena_printf(a, "%s since the training", d->changed));
    if (!cell_has_ended(d->cell->state) && d->cell->state != CELL_STALE)
        json_add_text(list,
                      arena_printf(a, "the cell is %s: these are the weights of step %lld of %lld",
                                   cell_state_name(d->cell->state), (long long)d->step,
                                   (long long)d->config.train.steps));
    if (d->cell->state == CELL_DIVERGED)
        json_add_text(list, "the training diverged");
    if (d->subject.batch[0].T < T)
        json_add_text(list, arena_printf(a, "windows of %lld tokens are cut to their first %d",
                                         (long long)T, SUBJECT_LENGTH));
    if (moving_token)
        json_add_text(
            list, "the combination gives a token another vector at each position: all of that is "
                  "counted as token here");
}

static void put_head(struct cell_diagnosis *d, struct json v, double loss, bool moving_token)
{
    const peat_dims *m = &d->assembly.model.dims;
    int64_t windows = 0;
    for (int i = 0; i < d->subject.n_batch; i++)
        windows += d->subject.batch[i].B;
    json_put_int(v, "version", 1);
    json_put_text(v, "cell", d->cell->id);
    json_put_text(v, "label", d->cell->label);
    json_put_text(v, "hash", d->config.hash);
    json_put_text(v, "engine", engine_version());
    json_put_text(v, "scheme", schemes_text(d, v.a));
    json_put_text(v, "combine",
                  d->config.has_combine ? d->assembly.positional.combine_part.id : "-");
    json_put_int(v, "layers", m->L);
    json_put_int(v, "heads", m->H);
    json_put_int(v, "width", m->D);
    json_put_bool(v, "causal", m->causal);
    json_put_int(v, "step", d->step);
    json_put_text(v, "weights", d->weights);
    json_put_int(v, "length", d->subject.batch[0].T);
    json_put_int(v, "windows", windows);
    json_put_int(v, "tokens", subject_tokens(&d->subject));
    put_rounded(v, "loss", loss);
    add_notes(d, moving_token, json_put_list(v, "notes"));
}

peat_status cell_diagnosis_run(struct cell_diagnosis *d, const char *const *only, int n_only,
                               struct value **v, struct error *err)
{
    struct subject *s = &d->subject;
    struct json map = json_map(&s->arena);
    double loss = mean_loss(s);
    *v = map.v;
    s->now = tables_find(s);
    if (s->now)
        put_head(d, map, loss, s->now->moving_token);
    diagnose(s, only, n_only, map);
    s->now = NULL;
    return subject_status(s, err);
}
