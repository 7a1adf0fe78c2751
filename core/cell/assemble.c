/* SPDX-License-Identifier: MIT */
/* assemble.c: sets up a cell's plugins, task and model together. */
#include "cell/assemble.h"

#include "cell/start.h"

static struct part part_of(const struct cell_config *c, const struct plugin_use *use,
                           const char *prefix)
{
    return (struct part){.id = use->plugin->desc->id,
                         .prefix = prefix,
                         .plugin = use->plugin,
                         .config = use->config,
                         .files = c->files};
}

static void note_plugins(struct trail *t, const struct cell_config *c)
{
    const struct plugin_use *use;
    struct error at = {0};
    trail_forget_plugins(t);
    for (int i = 0; (use = cell_plugin(c, i)); i++) {
        place_error(&at, use->at, "%s", "");
        trail_plugin(t, use->plugin->desc->id, use->plugin->path, at.text);
    }
}

static peat_status assemble_task(struct assembly *s, const struct cell_config *c,
                                 struct arena *arena, struct error *err)
{
    struct task *t = &s->task;
    int64_t *length = ARENA_ARRAY(arena, c->eval.lengths.n, int64_t);
    for (int64_t i = 0; i < c->eval.lengths.n; i++)
        length[i] = (int64_t)c->eval.lengths.item[i];
    *t = (struct task){
        .trail = s->trail,
        .host = s->host ? s->host : host_table(),
        .hooks = c->task.plugin->desc->interface,
        .part = part_of(c, &c->task, "task"),
        .plan = {.arch = (peat_arch)c->model.arch,
                 .seq_len = c->train.seq_len,
                 .n_lengths = c->eval.lengths.n,
                 .length = length,
                 .eval_tokens = c->eval.tokens,
                 .test = c->eval.test,
                 .seed = (uint64_t)c->seed,
                 .head = (peat_head)c->model.head,
                 .input = (peat_input)c->model.input},
    };
    struct error inner = {0};
    peat_status status = task_setup(t, arena, &inner);
    return status == PEAT_OK ? PEAT_OK : place_failure(err, c->task.at, &inner);
}

static void fill_positional(struct positional *p, const struct cell_config *c, struct arena *arena)
{
    *p = (struct positional){.host = p->host, .n_scheme = c->n_scheme};
    for (int i = 0; i < c->n_scheme; i++) {
        const struct plugin_use *use = &c->scheme[i];
        const char *prefix = arena_printf(arena, "position.%d.%s", i, use->plugin->desc->id);
        p->scheme[i] = (struct scheme_part){.part = part_of(c, use, prefix),
                                            .hooks = use->plugin->desc->interface,
                                            .where = use->where};
    }
    if (!c->has_combine)
        return;
    const char *prefix = arena_printf(arena, "combine.%s", c->combine.plugin->desc->id);
    p->combine_part = part_of(c, &c->combine, prefix);
    p->combine = c->combine.plugin->desc->interface;
}

/* The freeze patterns of the model, and those of frozen starts. */
static peat_strings freeze_of(const struct cell_config *c, struct arena *arena)
{
    int64_t n = c->model.freeze.n, most = n;
    for (int i = 0; i < c->n_start; i++)
        most += c->start[i].to.n;
    const char **all = ARENA_ARRAY(arena, most + 1, const char *);
    for (int64_t i = 0; i < n; i++)
        all[i] = c->model.freeze.item[i];
    for (int i = 0; i < c->n_start; i++)
        for (int64_t k = 0; c->start[i].frozen && k < c->start[i].to.n; k++)
            all[n++] = c->start[i].to.item[k];
    return (peat_strings){n, all};
}

static struct model_config model_config_of(const struct cell_config *c, const peat_task_plan *plan,
                                           struct arena *arena)
{
    struct model_config m = c->model;
    m.freeze = freeze_of(c, arena);
    m.vocab = plan->vocab;
    m.n_segment = plan->n_segment;
    m.n_stream = plan->n_stream;
    memcpy(m.stream, plan->stream, sizeof(m.stream));
    m.n_class = plan->n_class;
    m.patch_width = plan->patch_width;
    m.n_axes = plan->n_axes;
    m.source_T = plan->source_T;
    m.T_train = m.T_max = plan->seq_len;
    m.T_max = plan->source_T > m.T_max ? plan->source_T : m.T_max;
    for (int64_t i = 0; i < plan->n_eval; i++)
        m.T_max = plan->eval_T[i] > m.T_max ? plan->eval_T[i] : m.T_max;
    return m;
}

static struct place place_of_pattern(const struct cell_config *c, const char *pattern)
{
    const struct value *freeze = c->freeze;
    bool list = freeze && freeze->kind == VALUE_LIST;
    for (int i = 0; list && i < freeze->n; i++)
        if (strcmp(freeze->item[i]->text, pattern) == 0)
            return freeze->item[i]->at;
    for (int i = 0; i < c->n_start; i++)
        for (int64_t k = 0; c->start[i].frozen && k < c->start[i].to.n; k++)
            if (strcmp(c->start[i].to.item[k], pattern) == 0)
                return c->start[i].at;
    return freeze ? freeze->at : NOWHERE;
}

/* The place that names the plugin whose set-up failed, or the pattern that could not be frozen. */
static struct place place_of(const struct assembly *s, const struct cell_config *c)
{
    if (s->model.misfrozen)
        return place_of_pattern(c, s->model.misfrozen);
    for (int i = 0; i < c->n_scheme; i++)
        if (s->positional.failing == &s->positional.scheme[i].part)
            return c->scheme[i].at;
    if (s->positional.failing == &s->positional.combine_part && c->has_combine)
        return c->combine.at;
    return NOWHERE;
}

peat_status assemble(struct assembly *s, const struct cell_config *c, struct arena *arena,
                     peat_dtype dtype, bool shape_only, struct error *err)
{
    note_plugins(s->trail, c);
    peat_status status = assemble_task(s, c, arena, err);
    if (status != PEAT_OK)
        return status;
    s->positional.host = s->task.host;
    fill_positional(&s->positional, c, arena);
    s->positional.trail = s->trail;
    struct model_config m = model_config_of(c, &s->task.plan, arena);
    struct error inner = {0};
    status = model_build(&s->model, &m, &s->positional, arena, dtype, (uint64_t)c->seed, shape_only,
                         &inner);
    if (status == PEAT_OK)
        return PEAT_OK;
    struct place at = place_of(s, c);
    return at.file ? place_failure(err, at, &inner) : error_set(err, status, "%s", inner.text);
}

/* ---- values that plugins chose ---- */

static bool is_named_twice(const struct positional *p, int i)
{
    for (int k = 0; k < p->n_scheme; k++)
        if (k != i && strcmp(p->scheme[k].part.id, p->scheme[i].part.id) == 0)
            return true;
    return false;
}

static void add_chosen(struct json all, const struct part *part, const char *name)
{
    for (int k = 0; part->resolved && k < part->resolved->n; k++)
        json_put(all, arena_printf(all.a, "%s.%s", name, part->resolved->key[k]),
                 part->resolved->item[k]);
}

struct value *assembly_resolved(const struct assembly *s, struct arena *a)
{
    const struct positional *p = &s->positional;
    struct json all = json_map(a);
    add_chosen(all, &s->task.part, s->task.part.id);
    if (p->combine)
        add_chosen(all, &p->combine_part, p->combine_part.id);
    for (int i = 0; i < p->n_scheme; i++) {
        const struct part *part = &p->scheme[i].part;
        add_chosen(all, part, is_named_twice(p, i) ? part->prefix : part->id);
    }
    return all.v;
}
