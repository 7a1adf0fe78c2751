/* SPDX-License-Identifier: MIT */
/* checkrig.c: the model of a cell, and its passes. */
#include "checkrig.h"

const peat_scheme *checked_scheme(const struct checked *s)
{
    const peat_plugin *desc = s->plugin->desc;
    return desc->kind == PEAT_SCHEME ? desc->interface : NULL;
}

const peat_combine *checked_combine(const struct checked *s)
{
    const peat_plugin *desc = s->plugin->desc;
    return desc->kind == PEAT_COMBINE ? desc->interface : NULL;
}

/* ---- hooks around the subject's ---- */

static struct shim *shim_of(const peat_call *c)
{
    return (struct shim *)(uintptr_t)c->host;
}

static peat_status move_positions(const peat_call *c, double *pos)
{
    struct shim *shim = shim_of(c);
    peat_status status = shim->own->positions ? shim->own->positions(c, pos) : PEAT_OK;
    int64_t n = c->q->pos_B * c->q->T;
    for (int64_t i = 0; i < c->q->n_axes * n; i++)
        pos[i] = pos[i] * shim->stride + shim->by * (double)(1 + i / n) +
                 shim->row * (double)(i / c->q->T % c->q->pos_B);
    return status;
}

static peat_status keep_qkv(const peat_call *c, peat_qkv *io)
{
    struct shim *shim = shim_of(c);
    int i = shim->n < 63 ? shim->n++ : 63;
    if (shim->wider) {
        io->q = peat_concat(c->g, 2, (peat_node *[]){io->q, io->q}, -1);
        io->k = peat_concat(c->g, 2, (peat_node *[]){io->k, io->k}, -1);
    }
    shim->before[i].q = io->q;
    shim->before[i].k = io->k;
    peat_status status = shim->own->qkv(c, io);
    shim->after[i].q = io->q;
    shim->after[i].k = io->k;
    return status;
}

static void *keep_memory(peat_setup *s, size_t bytes)
{
    struct shim *shim = (struct shim *)(uintptr_t)s->host;
    void *at = host_table()->alloc(s, bytes);
    if (at && shim->n_kept < 64)
        shim->kept[shim->n_kept++] = (struct kept){at, NULL, bytes};
    return at;
}

static double *keep_scratch(const peat_call *c, int64_t n)
{
    struct shim *shim = shim_of(c);
    double *at = host_table()->scratch(c, n);
    if (at && shim->n_scratch < 64)
        shim->scratch[shim->n_scratch++] = (struct kept){at, NULL, (size_t)n * sizeof(*at)};
    return at;
}

static void fill_shim(struct rig *r, const peat_scheme *own)
{
    struct shim *shim = &r->shim;
    shim->own = own;
    shim->hooks = *own;
    if (r->plan.moved)
        shim->hooks.positions = move_positions;
    if (own->qkv)
        shim->hooks.qkv = keep_qkv;
}

/* ---- the model ---- */

bool rig_owns(const struct rig *r, const struct part *part)
{
    const struct plugin_use *use;
    for (int i = 0; (use = cell_plugin(&r->config, i)); i++)
        if (use->config == part->config && use->plugin->desc == r->subject->plugin->desc)
            return true;
    return false;
}

/* Names of a part's tensors begin with its prefix. */
static bool has_weight(const struct rig *r, const struct part *part, const struct weight *w)
{
    return rig_owns(r, part) && strncmp(w->name, part->prefix, strlen(part->prefix)) == 0;
}

bool rig_registered(const struct rig *r, const struct weight *w)
{
    const struct model *m = &r->s.model;
    bool has = false;
    for (int k = 0; k < (m->encoder ? 2 : 1); k++) {
        const struct positional *p = k ? &m->encoder->positional : m->positional;
        has = has || (p->combine && has_weight(r, &p->combine_part, w));
        for (int i = 0; i < p->n_scheme; i++)
            has = has || has_weight(r, &p->scheme[i].part, w);
    }
    return has;
}

/* Moves weights off their initial values, which may be zero or equal, at most half the way to their
 * bounds. */
static void disturb(struct rig *r)
{
    struct weights *w = &r->s.model.weights;
    for (int i = 0; i < w->n; i++) {
        struct weight *x = w->item[i];
        uint64_t stream = rng_stream((uint64_t)r->seed, "check", x->name);
        for (int64_t k = 0; k < tensor_count(&x->value); k++) {
            double is = tensor_get(&x->value, k);
            double value = is + 0.2 * rng_uniform(stream, (uint64_t)k) - 0.1;
            if (x->bounded && !(x->lo <= is && is <= x->hi))
                r->outside = x;
            if (x->bounded)
                value = fmin(fmax(value, (is + x->lo) / 2), (is + x->hi) / 2);
            tensor_set(&x->value, k, value);
        }
    }
}

/* Puts the plan's hooks in place of the subject's, and makes its terms in each layer. */
static void put_hooks(struct rig *r, struct positional *p)
{
    const struct rig_plan *plan = &r->plan;
    p->host = plan->host ? plan->host : &r->shim.host;
    p->undeclared_T = plan->undeclared_T;
    for (int i = 0; i < p->n_scheme; i++) {
        struct scheme_part *s = &p->scheme[i];
        if (!rig_owns(r, &s->part) || s->hooks != checked_scheme(r->subject))
            continue; /* in an encoder, one that acts across alone has no hooks */
        s->hooks = plan->hooks ? plan->hooks : &r->shim.hooks;
        s->part.per_layer |= plan->per_layer;
    }
    if (plan->merge && checked_combine(r->subject))
        p->combine = plan->merge;
}

static void change(struct rig *r)
{
    struct cell_config *c = &r->config;
    const peat_plugin *desc = r->subject->plugin->desc;
    struct plugin_use *own = desc->kind == PEAT_COMBINE ? &c->combine : &c->task;
    for (int i = 0; i < c->n_scheme; i++)
        own = c->scheme[i].plugin->desc == desc ? &c->scheme[i] : own;
    if (r->plan.config)
        own->config = (void *)(uintptr_t)r->plan.config;
    if (r->plan.apart)
        own->where.across = ACROSS_NOT;
}

struct rig *rig_open(const struct checked *s, const struct check_cell *cell,
                     const struct rig_plan *plan, struct check_outcome *o)
{
    struct rig *r = ARENA_NEW(s->arena, struct rig);
    *r = (struct rig){.subject = s,
                      .o = o,
                      .plan = *plan,
                      .shim.stride = 1,
                      .config = cell->config,
                      .s.trail = s->trail,
                      .seed = cell->config.seed,
                      .team = *s->team};
    arena_init(&r->arena, "check", 1 << 18);
    arena_init(&r->step, "check step", 1 << 20);
    if (plan->guarded) {
        arena_guard(&r->arena, GUARD_BYTES, plan->guarded);
        arena_guard(&r->step, GUARD_BYTES, plan->guarded);
    }
    change(r);
    r->shim.host = *host_table();
    r->shim.host.alloc = keep_memory;
    r->shim.host.scratch = keep_scratch;
    r->s.host = &r->shim.host;
    r->status = assemble(&r->s, &r->config, &r->arena, plan->dtype, plan->shape_only, &r->err);
    if (r->status != PEAT_OK)
        return r;
    if (checked_scheme(s))
        fill_shim(r, checked_scheme(s));
    put_hooks(r, &r->s.positional);
    if (r->s.model.encoder)
        put_hooks(r, &r->s.model.encoder->positional);
    r->s.model.weights.step = plan->trained_step;
    const struct model_config *m = &r->s.model.config;
    r->V = m->head == PEAT_HEAD_CLASS ? m->n_class : m->vocab;
    if (!plan->shape_only && !plan->start)
        disturb(r);
    return r;
}

bool rig_refused(const struct rig *r)
{
    return r->status == PEAT_REFUSED || r->status == PEAT_INVALID;
}

void rig_close(struct rig *r)
{
    arena_release(&r->step);
    arena_release(&r->arena);
}

bool model_is_movable(const struct model_config *m)
{
    return !model_has_class_token(m) || m->cls_position == CLS_FIRST;
}

bool rig_has_places(const struct rig *r)
{
    return r->config.model.head != PEAT_HEAD_CLASS;
}

/* ---- inputs ---- */

static int64_t below(uint64_t stream, uint64_t i, int64_t n)
{
    return (int64_t)(rng_bits(stream, i) % (uint64_t)n);
}

void *rig_config(const struct rig *r)
{
    const struct plugin_use *use;
    void *config = NULL;
    for (int i = 0; (use = cell_plugin(&r->config, i)); i++)
        config = use->plugin->desc == r->subject->plugin->desc ? use->config : config;
    return config;
}

int64_t rig_named(const struct rig *r, const peat_param *row)
{
    int64_t id = -1;
    if (row->type == PEAT_INT)
        memcpy(&id, (const char *)rig_config(r) + row->offset, sizeof(id));
    return id < r->s.model.config.vocab ? id : -1;
}

int32_t rig_token(const struct rig *r, const char *what, int64_t i)
{
    uint64_t stream = rng_stream((uint64_t)r->seed, "check cell", what), at = (uint64_t)i * 4;
    int64_t V = r->s.model.config.vocab;
    int64_t kind = below(stream, at, 4), id = below(stream, at + 1, V), n = 0;
    const peat_param *row = r->subject->plugin->desc->param;
    for (; kind == 0 && row && row->key; row++) {
        int64_t named = rig_named(r, row);
        if (named >= 0 && below(stream, at + 2, ++n) == 0)
            id = named;
    }
    return (int32_t)(kind == 1 && V > '9' ? '0' + id % 10 : id);
}

void rig_renew(struct rig_input *x)
{
    int64_t step = x->in.step, T_total = x->in.rows.T_total;
    x->in = forward_input(&x->b, x->in.phase);
    x->in.step = step;
    x->in.rows.T_total = T_total;
}

struct rig_input rig_input(struct rig *r, peat_phase phase)
{
    const peat_task_plan *plan = &r->s.task.plan;
    struct rig_input x = {.in.phase = phase};
    struct batch batch;
    int64_t which = 0, T = plan->seq_len;
    for (int64_t i = 1; i < plan->n_eval; i++)
        which = plan->eval_T[i] > plan->eval_T[which] ? i : which;
    T = phase == PEAT_EVAL && plan->eval_T[which] > T ? plan->eval_T[which] : T;
    peat_status status = task_batch_init(&r->s.task, &batch, &r->arena, r->config.train.batch, T);
    if (status == PEAT_OK)
        status = phase == PEAT_TRAIN
                     ? task_train_batch(&r->s.task, (uint64_t)r->seed, 1, &batch, &r->err)
                     : task_eval_batch(&r->s.task, which, 0, &batch, &r->err);
    if (status != PEAT_OK)
        return x;
    x.b = batch.b;
    for (int64_t i = 0; !x.b.patch && i < x.b.B * x.b.T; i++)
        x.b.token[i] = rig_token(r, "tokens", i);
    for (int64_t i = 0; x.b.pos && i < x.b.n_axes * x.b.B * x.b.T; i++)
        x.b.pos[i] += (double)(i / x.b.T % x.b.B % 2); /* of the row */
    for (int64_t i = 0; i < x.b.B * x.b.S; i++)
        x.b.source[i] = rig_token(r, "source", i);
    rig_renew(&x);
    return x;
}

/* Drops the first n places of a batch of one row. */
static void drop_places(peat_batch *b, int64_t n)
{
    b->token += n;
    b->segment += n;
    b->document += n;
    b->pad += n;
    b->special += n;
    b->patch += b->patch ? n * b->patch_width : 0;
    for (int64_t a = 0; a < b->n_axes; a++)
        memmove(b->pos + a * (b->T - n), b->pos + a * b->T + n,
                (size_t)(b->T - n) * sizeof(*b->pos));
    for (int64_t i = 0; i < b->n_stream; i++)
        if (b->stream_id[i])
            b->stream_id[i] += n;
        else
            b->stream_number[i] += n * b->stream_numbers[i];
    b->T -= n;
}

struct rig_input rig_part(struct rig *r, const struct rig_input *x, int64_t b, int64_t from,
                          int64_t to)
{
    struct rig_input part = *x;
    bool cut = batch_cut(&r->arena, &x->b, b < 0 ? x->b.B : 1, b < 0 ? NULL : &b, to, &part.b);
    BUG_UNLESS(cut);
    drop_places(&part.b, from);
    rig_renew(&part);
    return part;
}

/* ---- passes ---- */

/* Whether a scheme beside the plugin changes positions, which the plugin may then refuse. */
static bool is_moved(const struct rig *r)
{
    for (int i = 0; i < r->config.n_scheme && r->config.n_scheme > 1; i++)
        if (scheme_has(r->config.scheme[i].plugin->desc->interface, HOOK_POSITIONS))
            return true;
    return false;
}

/* Logits that are NULL because the graph failed make the check fail with the error of the graph.
 * One that names no hook of the plugin is a refusal by the engine, or by a plugin beside it. */
static peat_node *with_error(struct rig *r, const struct graph *g, peat_node *logits)
{
    if (!logits && graph_failed(g)) {
        const char *id = r->subject->plugin->desc->id;
        size_t n = strlen(id);
        bool own = strncmp(g->err.text, id, n) == 0 && g->err.text[n] == '.' && !is_moved(r);
        r->given_up = g->given_up || !own;
        if (r->given_up)
            check_say(r->o, CHECK_SKIPPED, "refused: %s", g->err.text);
        error_set(&r->err, g->err.status, "%s", g->err.text);
        if (!r->given_up)
            check_fail(r->o, "%s", r->err.text);
    }
    return logits;
}

static void start(struct rig *r, struct graph *g)
{
    arena_reset(&r->step);
    graph_init(g, &r->step, &r->team, r->s.model.weights.dtype);
    g->shape_only = r->plan.shape_only;
    r->shim.n = r->shim.n_scratch = 0;
}

static peat_node *forward(struct rig *r, struct graph *g, const struct model_input *in,
                          const struct observer *o, peat_node **classes)
{
    struct pass pass = {.observer = o};
    start(r, g);
    peat_node *logits = with_error(r, g, model_forward(&r->s.model, g, in, &pass));
    r->flops = g->flops;
    if (classes)
        *classes = pass.classes;
    return logits;
}

/* NULL stays NULL. */
static double *take_values(struct rig *r, const peat_node *node)
{
    if (!node)
        return NULL;
    int64_t n = tensor_count(&node->value);
    double *out = ARENA_ARRAY(&r->arena, n, double);
    for (int64_t i = 0; i < n && node->value.data; i++)
        out[i] = tensor_get(&node->value, i);
    arena_reset(&r->step);
    return out;
}

size_t rig_logits_bytes(const struct rig *r, const struct model_input *in)
{
    return (size_t)(in->B * (rig_has_places(r) ? in->rows.T : 1) * r->V) * sizeof(double);
}

double *rig_observed(struct rig *r, const struct model_input *in, const struct observer *o)
{
    struct graph g;
    return take_values(r, forward(r, &g, in, o, NULL));
}

double *rig_logits(struct rig *r, const struct model_input *in)
{
    return rig_observed(r, in, NULL);
}

double *rig_newest(struct rig *r, struct stored *stored, int64_t end)
{
    struct graph g;
    start(r, &g);
    g.no_grad = true;
    return take_values(r, with_error(r, &g, model_newest(&r->s.model, &g, stored, end)));
}

peat_node *rig_sum(struct graph *g, peat_node *x, uint64_t stream, peat_node **weights)
{
    int64_t n = tensor_count(&x->value);
    peat_node *w = *weights = graph_constant(g, g->dtype, 2, (int64_t[]){n, 1}, NULL);
    for (int64_t i = 0; w && i < n; i++)
        tensor_set(&w->value, i, 2 * rng_uniform(stream, (uint64_t)i) - 1);
    peat_node *row = peat_reshape(&g->base, x, 2, (int64_t[]){1, n});
    return peat_matmul(&g->base, row, w, 0);
}

peat_node *rig_loss(struct rig *r, struct graph *g, const struct model_input *in)
{
    peat_node *w, *classes, *logits = forward(r, g, in, NULL, &classes);
    peat_node *sum = logits ? rig_sum(g, logits, rng_stream(1, "check", "loss"), &w) : NULL;
    if (!sum || !classes)
        return sum;
    return peat_add(&g->base, sum, rig_sum(g, classes, rng_stream(1, "check", "classes"), &w));
}

double rig_step(struct rig *r, const struct model_input *in, bool backward)
{
    struct graph g;
    peat_node *loss = rig_loss(r, &g, in);
    double value = loss ? tensor_get(&loss->value, 0) : (double)NAN;
    if (loss && backward) {
        weights_zero_grad(&r->s.model.weights);
        graph_backward(&g, loss);
        if (!with_error(r, &g, graph_failed(&g) ? NULL : loss))
            return NAN;
    }
    if (backward && loss && isnan(value))
        check_fail(r->o, "the loss is not a number%s",
                   r->plan.guarded == ARENA_SHOWS_READS ? " " RIG_READS_NAN : "");
    return value;
}
