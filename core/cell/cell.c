/* SPDX-License-Identifier: MIT */
/* cell.c: from a tree of settings to a typed cell with its hash. */
#include "cell/cell.h"

#include "cell/block_name.h"
#include "cell/setting.h"
#include "cell/trunk.h"
#include "cellreader.h"
#include "identity.h"
#include "model/block.h"
#include "nn/setup.h"
#include "plugin/params.h"
#include "train/trainer.h"

/* ---- model ---- */

/* scale: one of the labels, or the factor itself. */
static bool read_attention(const struct cell_reader *r, struct model_config *m,
                           const struct value *v)
{
    static const char *const scale_key[] = {"scale", NULL};
    const struct value *scale = value_get(v, "scale");
    bool number = scale && (scale->kind == VALUE_INT || scale->kind == VALUE_REAL);
    if (number && !(scale->real > 0 && isfinite(scale->real)))
        return mistake(r->err, scale->at, "'scale' in attention must be above 0");
    if (number)
        m->attention_scale_value = scale->real;
    return params_fill(attention_rows, m, v, "attention", number ? scale_key : NULL, r->a,
                       r->err) == PEAT_OK;
}

static bool check_heads(const struct cell_reader *r, const struct model_config *m,
                        const struct value *v)
{
    if (m->d_model % m->n_head == 0)
        return true;
    const struct value *at = value_get(v, "n_head"), *width = value_get(v, "d_model");
    if (!at || (width && strcmp(width->at.file, "command line") == 0))
        at = width;
    return mistake(r->err, at->at,
                   "d_model %" PRId64 " is not divisible by n_head %" PRId64
                   ": every head needs the same width",
                   m->d_model, m->n_head);
}

/* Refuses settings that contradict each other, whatever the task. */
struct clash {
    bool is_there;
    const char *key; /* place of the message */
    const char *why;
};

static bool check_clashes(const struct cell_reader *r, const struct value *v,
                          const struct clash *clash, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (clash[i].is_there)
            return mistake(r->err, value_get(v, clash[i].key)->at, "%s", clash[i].why);
    return true;
}

static bool check_head(const struct cell_reader *r, const struct model_config *m,
                       const struct value *v)
{
    const bool patches = m->input == PEAT_INPUT_PATCHES, both = m->head == PEAT_HEAD_BOTH;
    const bool classes = m->head != PEAT_HEAD_TOKENS;
    const struct clash clash[] = {
        {m->tie_factored && !m->tie_embeddings, "tie_factored",
         "tie_factored needs tie_embeddings: true: its matrix changes the width for the token "
         "table"},
        {m->tie_embeddings && patches, "tie_embeddings",
         "tie_embeddings needs input: tokens: patches have no table of tokens"},
        {m->arch == PEAT_SEQ2SEQ && patches, "input",
         "input: patches needs model.arch: encoder or decoder"},
        {classes && m->arch != PEAT_ENCODER, "head",
         arena_printf(r->a,
                      "head: %s needs model.arch: encoder, in which every place sees all places",
                      both ? "both" : "class")},
        {both && patches, "head", "head: both predicts masked tokens, so it needs input: tokens"},
        {m->tie_embeddings && classes && !both, "tie_embeddings",
         "tie_embeddings needs head: tokens, because class logits do not use the token table"},
    };
    return check_clashes(r, v, clash, sizeof(clash) / sizeof(*clash));
}

/* Checks mixers other than attention, and the settings that are only for attention. A class token
 * must see the whole sequence. */
static bool check_mixer(const struct cell_reader *r, const struct model_config *m,
                        const struct value *v)
{
    const bool conv = m->mixer == MIXER_CONV,
               cls = m->head != PEAT_HEAD_TOKENS && m->pool == POOL_CLS;
    const char *mixer = conv ? "conv" : "rnn";
    const struct clash clash[] = {
        {m->arch == PEAT_SEQ2SEQ, "mixer",
         arena_printf(r->a,
                      "mixer: %s needs model.arch: decoder or encoder: seq2seq looks at its source "
                      "by attention",
                      mixer)},
        {m->window > 0, "window",
         arena_printf(r->a, "'window' in model is for mixer: attention, and mixer is %s%s", mixer,
                      conv ? " (conv_width limits that)" : "")},
        {m->attention_path || m->attention_scale || m->attention_scale_value > 0, "attention",
         arena_printf(r->a, "'attention' in model is for mixer: attention, and mixer is %s",
                      mixer)},
        {m->qk_norm, "qk_norm",
         arena_printf(r->a, "'qk_norm' in model is for mixer: attention, and mixer is %s", mixer)},
        {!conv && !m->bias, "bias",
         "mixer: rnn needs bias: true: a bias spreads the memories of its forget gates"},
        {conv && m->arch == PEAT_ENCODER && m->conv_width % 2 == 0, "conv_width",
         arena_printf(r->a,
                      "'conv_width' must be odd in an encoder (as many places before as after), "
                      "not %" PRId64,
                      m->conv_width)},
        {conv && cls, "mixer",
         "with mixer: conv a class token sees only its neighbours: set pool: mean"},
        {cls && m->cls_position != CLS_FIRST, "mixer",
         "mixer: rnn needs the class token at a position: set cls_position: first, or pool: mean"},
    };
    return m->mixer == MIXER_ATTENTION ||
           check_clashes(r, v, clash, sizeof(clash) / sizeof(*clash));
}

static bool check_model(const struct cell_reader *r, struct model_config *m, const struct value *v)
{
    enum { WIDTH = 5 };
    m->conv_width = m->mixer != MIXER_CONV ? 0 : m->conv_width ? m->conv_width : WIDTH;
    return check_heads(r, m, v) && check_head(r, m, v) && check_mixer(r, m, v);
}

/* The settings that the block's name filled in, and an automatic d_ff: "norm: rms, ..., d_ff:
 * 344". */
static const char *filled_in(const struct value *v, const struct model_config *m, struct arena *a)
{
    const char *text = block_name_text(v, a);
    if (m->d_ff == 0 && block_width(m) != 4 * m->d_model)
        text = arena_item(a, text ? text : "", "d_ff: %" PRId64, block_width(m));
    return text;
}

static bool read_model(const struct cell_reader *r, struct cell_config *c,
                       const struct value *given)
{
    static const char *const reserved[] = {"attention", "embedding", "start", NULL};
    const struct value *v = block_name_filled(given, r->a);
    struct model_config *m = &c->model;
    if (!(params_fill(model_rows, m, v, "model", reserved, r->a, r->err) == PEAT_OK &&
          read_attention(r, m, value_get(v, "attention")) &&
          point_refused(r, check_model(r, m, v))))
        return false;
    c->filled_in = filled_in(given, m, r->a);
    m->block = 0;
    m->d_ff = block_width(m);
    m->embed_scale = token_table(m->d_model, m->embed_scale).factor;
    return true;
}

/* The section's settings, without CELL_LATER ones that equal those of `none`, their defaults. */
static struct value *rows_value(const peat_param *row, const void *config, const void *none,
                                struct arena *a)
{
    const struct value *all = params_value(row, config, a), *preset = params_value(row, none, a);
    struct value *kept = value_map(a, NOWHERE);
    for (; row->key; row++) {
        struct value *x = value_get(all, row->key);
        if (!(row->flags & CELL_LATER) || !value_equal(x, value_get(preset, row->key)))
            value_set(a, kept, row->key, NOWHERE, x);
    }
    return kept;
}

static struct value *model_value(const struct cell_config *c, bool identity, struct arena *a)
{
    const struct model_config *m = &c->model, none = {.norm_eps = NORM_EPS, .bias = true};
    const struct json model = {a, rows_value(model_rows, m, &none, a)};
    const struct json attention = {a, params_value(attention_rows, m, a)};
    if (m->attention_scale_value > 0)
        json_put_real(attention, "scale", m->attention_scale_value);
    json_put(model, "attention", attention.v);
    starts_put(c, model, identity);
    return model.v;
}

/* ---- train and eval ---- */

/* Sets the default for schedule: wsd, whose constant part begins where the warm-up ends. */
static bool check_decay(const struct cell_reader *r, struct train_config *t, const struct value *v)
{
    const double share = 0.2;
    if (t->schedule != SCHEDULE_WSD)
        return t->decay == 0.0 ||
               mistake(r->err, value_get(v, "decay")->at, "'decay' in train is for schedule: wsd");
    if (t->decay == 0.0)
        t->decay = share;
    int64_t flat = schedule_flat_until(t);
    const struct value *at = value_get(v, "warmup");
    return t->warmup <= flat ||
           mistake(r->err, (at ? at : value_get(v, "decay"))->at,
                   "a warm-up of %" PRId64 " steps does not end before the decay, which begins "
                   "after step %" PRId64 " of %" PRId64,
                   t->warmup, flat, t->steps);
}

static bool read_train(const struct cell_reader *r, struct train_config *t, const struct value *v)
{
    bool ok = params_fill(train_rows, t, v, "train", NULL, r->a, r->err) == PEAT_OK;
    if (!value_get(v, "warmup") || json_text_is(v, "warmup", "auto"))
        t->warmup = -1;
    t->warmup = schedule_warmup(t);
    return ok && point_refused(r, check_decay(r, t, v));
}

static struct value *train_value(const struct train_config *t, struct arena *a)
{
    const struct train_config none = {0};
    const struct json train = {a, rows_value(train_rows, t, &none, a)};
    json_put_int(train, "warmup", t->warmup);
    return train.v;
}

/* Lengths must be whole and distinct; sorts them. */
static bool check_lengths(const struct cell_reader *r, struct eval_config *e, const struct value *v)
{
    if (!v || (v->kind == VALUE_TEXT && strcmp(v->text, "auto") == 0))
        return true;
    if (e->lengths.n == 0)
        return mistake(r->err, v->at, "'lengths' in eval must name a length, or be auto");
    double *length = ARENA_ARRAY(r->a, e->lengths.n, double);
    for (int64_t i = 0; i < e->lengths.n; i++) {
        struct place at = value_item(v, (int)i)->at;
        length[i] = e->lengths.item[i];
        if (length[i] != trunc(length[i]))
            return mistake(r->err, at, "'lengths' in eval must hold whole numbers");
        for (int64_t j = 0; j < i; j++)
            if (length[j] == length[i])
                return mistake(r->err, at, "'lengths' in eval holds %.0f twice", length[i]);
    }
    sort_reals(length, e->lengths.n);
    e->lengths.item = length;
    return true;
}

static bool read_eval(const struct cell_reader *r, struct eval_config *e, const struct value *v)
{
    static const char *const tokens_key[] = {"tokens", NULL};
    bool all = json_text_is(v, "tokens", "all");
    bool ok =
        params_fill(eval_rows, e, v, "eval", all ? tokens_key : NULL, r->a, r->err) == PEAT_OK;
    if (all)
        e->tokens = 0;
    return ok && check_lengths(r, e, value_get(v, "lengths"));
}

static struct value *eval_value(const struct eval_config *e, struct arena *a)
{
    const struct eval_config none = {0};
    const struct json eval = {a, rows_value(eval_rows, e, &none, a)}, lengths = json_list(a);
    for (int64_t i = 0; i < e->lengths.n; i++)
        json_add_int(lengths, (int64_t)e->lengths.item[i]);
    if (lengths.v->n > 0)
        json_put(eval, "lengths", lengths.v);
    if (e->tokens == 0)
        json_put_text(eval, "tokens", "all");
    return eval.v;
}

/* ---- plugins ---- */

static bool read_task(const struct cell_reader *r, struct cell_config *c, const struct value *tree)
{
    const struct value *task = value_get(tree, "task");
    if (!task || task->kind == VALUE_NULL)
        return mistake(r->err, task ? task->at : tree->at,
                       "no task is named; defaults need task: {plugin: NAME, ...}");
    return plugin_use_read(r, &c->task, PEAT_TASK, task);
}

static bool read_schemes(const struct cell_reader *r, struct cell_config *c, const struct value *v)
{
    int n = value_count(v);
    if (n == 0)
        return mistake(r->err, v->at,
                       "the list of schemes is empty; write 'none' for a model without positions");
    if (n > POSITIONAL_MAX)
        return mistake(r->err, v->at, "at most %d schemes can act together; this list has %d",
                       POSITIONAL_MAX, n);
    bool ok = true;
    for (int i = 0; ok && i < n; i++)
        ok = scheme_use_read(r, &c->scheme[i], value_item(v, i), &c->model);
    c->n_scheme = n;
    return ok;
}

static bool has_stream(const struct cell_config *c)
{
    for (int i = 0; i < c->n_scheme; i++)
        if (plugin_use_has_stream(&c->scheme[i]))
            return true;
    return false;
}

/* Without a stream, a combine that makes no position itself has nothing to merge. The default one
 * passes a single stream unchanged. */
static bool read_combine(const struct cell_reader *r, struct cell_config *c, const struct value *v,
                         bool *dropped)
{
    *dropped = false;
    if (!v || v->kind == VALUE_NULL) {
        if (!has_stream(c))
            return true;
        return point_refused(
            r, mistake(r->err, v ? v->at : c->scheme[0].at,
                       "the stream of scheme '%s' needs position.combine, such as sum",
                       c->scheme[0].plugin->desc->id));
    }
    if (!plugin_use_read(r, &c->combine, PEAT_COMBINE, v))
        return false;
    const peat_combine *hooks = c->combine.plugin->desc->interface;
    bool makes_position =
        hooks->min_streams <= 1 && strcmp(c->combine.plugin->desc->id, setting_combine) != 0;
    *dropped = !has_stream(c) && !makes_position;
    c->has_combine = !*dropped;
    return true;
}

static bool read_position(const struct cell_reader *r, struct cell_config *c,
                          const struct value *tree, bool *dropped)
{
    static const char *const keys[] = {"scheme", "combine", NULL};
    const struct value *position = value_get(tree, "position");
    if (!position)
        return mistake(r->err, tree->at, "no position is given");
    if (!known_keys_only(position, "position", keys, r->err))
        return false;
    const struct value *scheme = value_get(position, "scheme");
    if (!scheme || scheme->kind == VALUE_NULL)
        return mistake(r->err, scheme ? scheme->at : position->at,
                       "no scheme is named; write 'none' for a model without positions");
    return read_schemes(r, c, scheme) &&
           read_combine(r, c, value_get(position, "combine"), dropped);
}

const struct plugin_use *cell_plugin(const struct cell_config *c, int i)
{
    if (i <= c->n_scheme)
        return i == 0 ? &c->task : &c->scheme[i - 1];
    return i == c->n_scheme + 1 && c->has_combine ? &c->combine : NULL;
}

/* ---- resolved values and identity ---- */

/* The settings as they are given, or as the identity has them. */
static bool use_value(const struct cell_reader *r, const struct plugin_use *use, bool identity,
                      struct value **v)
{
    *v = use->given;
    if (use->formula && !identity)
        *v = value_with_path(r->a, *v, "formula", use->at, value_text(r->a, use->at, use->formula));
    return !identity || plugin_use_identity(r, use, v);
}

/* All settings with their values; for the identity, with files by their content, and of the section
 * `eval` only what decides bits. */
static bool put_settings(const struct cell_reader *r, const struct cell_config *c, bool identity,
                         struct value **settings)
{
    struct json all = json_map(r->a), position = json_map(r->a), schemes = json_list(r->a);
    struct value *one, *combine = NULL;
    if (!use_value(r, &c->task, identity, &one))
        return false;
    json_put(all, "task", one);
    json_put(all, "model", model_value(c, identity, r->a));
    json_put(all, "position", position.v);
    json_put(position, "scheme", schemes.v);
    for (int i = 0; i < c->n_scheme; i++) {
        if (!use_value(r, &c->scheme[i], identity, &one))
            return false;
        json_add(schemes, one);
    }
    if (c->has_combine && !use_value(r, &c->combine, identity, &combine))
        return false;
    json_put(position, "combine", combine);
    json_put(all, "train", train_value(&c->train, r->a));
    if (identity)
        put_eval_identity(all, c->resolved);
    else
        json_put(all, "eval", eval_value(&c->eval, r->a));
    if (c->arithmetic > 1)
        json_put_int(all, "arithmetic", c->arithmetic);
    *settings = all.v;
    return true;
}

static struct value *with_seed(const struct value *map, int64_t seed, struct arena *a)
{
    return value_with_path(a, map, "seed", NOWHERE, value_int(a, NOWHERE, seed));
}

static void set_seed(struct cell_config *c, struct arena *a)
{
    struct value *identity = with_seed(c->identity, c->seed, a);
    if (starts_vary(c))
        json_put((struct json){a, identity}, "start", starts_hashes(c, a));
    c->resolved = with_seed(c->resolved, c->seed, a);
    json_hash(identity, c->hash);
    trunk_hash(c, identity, a, c->trunk);
    json_hash(c->identity, c->setting);
}

peat_status cell_config_reseed(struct cell_config *c, const struct cell_config *from, int64_t seed,
                               struct arena *a, struct error *err)
{
    *c = *from;
    c->seed = seed;
    peat_status status = starts_vary(c) ? starts_find(c, a, err) : PEAT_OK;
    if (status == PEAT_OK)
        set_seed(c, a);
    return status;
}

/* ---- the whole cell ---- */

static bool check_patience(const struct cell_reader *r, const struct cell_config *c,
                           const struct value *tree)
{
    if (c->train.patience == 0 || c->eval.every > 0)
        return true;
    return mistake(r->err, value_get_path(tree, "train.patience")->at,
                   "'patience' counts evaluations during training: it needs eval.every");
}

static bool check_halves(const struct cell_reader *r, const struct cell_config *c,
                         const struct value *tree)
{
    if (!c->eval.halves || c->eval.test == 0)
        return true;
    return mistake(r->err, value_get_path(tree, "eval.halves")->at,
                   "'halves' measures the validation data in two parts, and eval.test = %g keeps a "
                   "part for the report already: leave halves out, or set eval.test: 0",
                   c->eval.test);
}

const struct cell_condition cell_conditions[CELL_CONDITIONS] = {
    {"model.pool", "model.head: class or both"},
    {"model.cls_position", "model.head: class or both, and model.pool: cls"},
    {"model.conv_width", "model.mixer: conv"},
    {"model.encoder_layers", "model.arch: seq2seq"},
    {"train.lr_min", "a train.schedule other than constant"},
};

static void note_conditions(struct cell_config *c, const struct value *tree)
{
    const struct model_config *m = &c->model;
    const bool classes = m->head != PEAT_HEAD_TOKENS;
    const bool holds[CELL_CONDITIONS] = {classes, classes && m->pool == POOL_CLS,
                                         m->mixer == MIXER_CONV, m->arch == PEAT_SEQ2SEQ,
                                         c->train.schedule != SCHEDULE_CONSTANT};
    for (int i = 0; i < CELL_CONDITIONS; i++)
        if (value_get_path(tree, cell_conditions[i].key))
            *(holds[i] ? &c->acting : &c->idle) |= 1U << i;
}

static bool read_sections(const struct cell_reader *r, struct cell_config *c,
                          const struct value *tree, bool *dropped)
{
    const struct value *model = value_get(tree, "model");
    return read_model(r, c, model) && starts_read(r, c, model) &&
           read_train(r, &c->train, value_get(tree, "train")) &&
           read_eval(r, &c->eval, value_get(tree, "eval")) &&
           point_refused(r, check_patience(r, c, tree) && check_halves(r, c, tree)) &&
           read_task(r, c, tree) && read_position(r, c, tree, dropped) &&
           starts_find(c, r->a, r->err) == PEAT_OK;
}

peat_status cell_config_read(struct cell_config *c, const struct value *tree, int64_t seed,
                             struct registry *r, struct data_files *files, struct arena *a,
                             bool *combine_dropped, struct error *err)
{
    struct error own = {0};
    const struct cell_reader reader = {r, files, a, err ? err : &own};
    bool dropped = false;
    *c = (struct cell_config){.files = files,
                              .arithmetic = json_get_int(tree, "arithmetic", CELL_ARITHMETIC),
                              .freeze = value_get_path(tree, "model.freeze"),
                              .seed = seed};
    if (!read_sections(&reader, c, tree, &dropped))
        return reader.err->status;
    note_conditions(c, tree);
    if (!put_settings(&reader, c, false, &c->resolved) ||
        !put_settings(&reader, c, true, &c->identity))
        return reader.err->status;
    set_seed(c, a);
    if (combine_dropped)
        *combine_dropped = dropped;
    return PEAT_OK;
}

peat_status cell_config_restore(struct cell_config *c, const struct value *config_json,
                                struct registry *r, struct arena *a, struct error *err)
{
    struct value *tree = value_map(a, config_json->at);
    struct data_files *files = ARENA_NEW(a, struct data_files);
    int64_t seed = json_get_int(config_json, "seed", -1);
    if (seed < 0)
        return error_set(err, PEAT_CORRUPT, "config.json is not a cell's configuration");
    json_put_int((struct json){a, tree}, "arithmetic", json_get_int(config_json, "arithmetic", 1));
    for (int i = 0; setting_sections[i]; i++) {
        struct value *section = value_get(config_json, setting_sections[i]);
        if (section)
            value_set(a, tree, setting_sections[i], section->at, section);
    }
    *files = (struct data_files){.a = a, .keep_most = SIZE_MAX};
    return cell_config_read(c, tree, seed, r, files, a, NULL, err);
}
