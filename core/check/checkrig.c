/* SPDX-License-Identifier: MIT */
/* checkrig.c: the small model around a plugin under check, and its companions there. */
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

/* ---- companions, written as plugins are ---- */

/* Moves all positions by *(struct moves *)config. */
static peat_status shift_positions(const peat_call *c, double *pos)
{
    const struct moves *moves = c->config;
    for (int64_t i = 0; i < c->q->n_axes * c->q->pos_B * c->q->T; i++)
        pos[i] = pos[i] * moves->stride + moves->by;
    return PEAT_OK;
}

static const peat_scheme part_shift = {
    .size = sizeof(part_shift), .traits = PEAT_STORABLE, .positions = shift_positions};

/* Repeats q and k along their width, which doubles. */
static peat_status repeat_qk(const peat_call *c, peat_qkv *io)
{
    io->q = peat_concat(c->g, 2, (peat_node *[]){io->q, io->q}, -1);
    io->k = peat_concat(c->g, 2, (peat_node *[]){io->k, io->k}, -1);
    return PEAT_OK;
}

static const peat_scheme part_twice = {
    .size = sizeof(part_twice), .traits = PEAT_STORABLE, .qkv = repeat_qk};

/* The bias -|difference| / 2. */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    double *value = peat_scratch(c, r->n);
    for (int64_t i = 0; value && i < r->n; i++)
        value[i] = -0.5 * fabs(r->delta[i]);
    return peat_fill(c, 2, (int64_t[]){1, r->n}, value);
}

static const peat_scheme part_bias = {
    .size = sizeof(part_bias), .traits = PEAT_STORABLE, .bias_rel = bias_rel};

/* Records q and k in *(struct passed *)config and changes nothing. */
static peat_status record_qkv(const peat_call *c, peat_qkv *io)
{
    struct passed *record = (struct passed *)(uintptr_t)c->config;
    record->q[c->layer] = io->q;
    record->k[c->layer] = io->k;
    return PEAT_OK;
}

static const peat_scheme part_record = {
    .size = sizeof(part_record), .traits = PEAT_STORABLE, .qkv = record_qkv};

/* A trained table of T_max rows, of width *(int64_t *)config; 0: any width. */
static int64_t stream_width(const void *config)
{
    return *(const int64_t *)config;
}

static peat_status stream_setup(peat_setup *s, const void *config, void **self)
{
    const int64_t dim[] = {s->dims.T_max, s->dims.d};
    (void)config;
    (void)self;
    peat_param_new(s, "table", 2, dim, (peat_init){.kind = PEAT_INIT_NORMAL, .b = 0.5}, PEAT_ONCE,
                   0);
    return PEAT_OK;
}

static peat_node *stream_encode(const peat_call *c)
{
    peat_node *index = peat_fill_index(c, 2, (int64_t[]){c->q->pos_B, c->q->T}, c->q->pos);
    return peat_gather_rows(c->g, peat_use(c, 0), index);
}

static const peat_scheme part_stream = {.size = sizeof(part_stream),
                                        .traits = PEAT_STORABLE,
                                        .width = stream_width,
                                        .setup = stream_setup,
                                        .encode = stream_encode};

/* Adds the streams: it pads narrower ones with zeros and cuts wider ones. */
static peat_status sum_setup(peat_setup *s, const void *config, int32_t n,
                             const char *const *stream, int64_t *width, int64_t *D, void **self)
{
    (void)s;
    (void)config;
    (void)stream;
    (void)self;
    for (int32_t i = 0; i < n; i++)
        width[i] = width[i] ? width[i] : *D;
    return PEAT_OK;
}

static peat_node *fitted(const peat_call *c, peat_node *x)
{
    int64_t d = peat_shape_of(c->g, x).dim[2], D = c->dims.D;
    if (d == D)
        return x;
    return d < D ? peat_pad(c->g, x, -1, 0, D - d) : peat_slice(c->g, x, -1, 0, D);
}

static peat_node *sum_merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_node *y = x[0];
    for (int32_t i = 1; i < n; i++)
        y = peat_add(c->g, y, fitted(c, x[i]));
    return y;
}

static const peat_combine part_sum = {.size = sizeof(part_sum),
                                      .min_streams = 1,
                                      .setup = sum_setup,
                                      .merge = sum_merge,
                                      .traits = PEAT_STORABLE};

/* ---- the positional ---- */

static struct where *add_scheme(struct rig *r, const char *id, const peat_scheme *hooks,
                                const void *config)
{
    struct scheme_part *s = &r->positional.scheme[r->positional.n_scheme++];
    *s = (struct scheme_part){
        .part = {.id = id, .prefix = id, .config = config, .files = r->subject->files},
        .hooks = hooks};
    return &s->where;
}

static void place(struct where *where, const struct rig_plan *plan)
{
    int64_t H = plan->heads, C = plan->D / H;
    where->across = plan->arch != PEAT_SEQ2SEQ || plan->apart ? ACROSS_NOT
                    : plan->flags & CASE_ACROSS_ONLY          ? ACROSS_ONLY
                                                              : ACROSS_TOO;
    if ((plan->flags & CASE_HEADS || plan->second) && H > 1) {
        where->head_begin = 1;
        where->head_end = H;
    }
    if (plan->flags & CASE_DIMS && C > 1) {
        where->dim_begin = C / 2;
        where->dim_end = C;
    }
}

static void add_second_use(struct rig *r, const peat_scheme *hooks)
{
    struct where *where = add_scheme(r, "second", hooks, r->plan.second);
    place(where, &r->plan);
    where->head_begin = 0;
    where->head_end = 1;
}

static void add_subject(struct rig *r, const peat_scheme *hooks, const struct variant *v)
{
    bool records = hooks->qkv != NULL;
    if (hooks->needs & PEAT_NEED_BIAS)
        add_scheme(r, "companion_bias", &part_bias, NULL);
    if (r->plan.flags & CASE_WIDER)
        add_scheme(r, "companion_wider", &part_twice, NULL);
    if (records)
        add_scheme(r, "before", &part_record, &r->before);
    if (r->plan.second && r->plan.turned)
        add_second_use(r, hooks);
    place(add_scheme(r, r->subject->plugin->desc->id, hooks, v->config), &r->plan);
    if (r->plan.second && !r->plan.turned)
        add_second_use(r, hooks);
    if (records)
        add_scheme(r, "after", &part_record, &r->after);
}

static void add_streams(struct rig *r, const peat_combine *hooks)
{
    static const char *const id[] = {"stream_1", "stream_2", "stream_3", "stream_4"};
    int n = r->plan.n_stream ? r->plan.n_stream : hooks->min_streams;
    for (int i = 0; i < n - 1 && i < 4; i++)
        add_scheme(r, id[i], &part_stream, &r->plan.width);
}

static void fill_positional(struct rig *r, const struct variant *v)
{
    const peat_scheme *scheme = checked_scheme(r->subject);
    const peat_combine *combine = checked_combine(r->subject);
    const char *id = r->subject->plugin->desc->id;
    r->positional = (struct positional){.host = r->plan.host ? r->plan.host : host_table(),
                                        .trail = r->subject->trail,
                                        .undeclared_T = r->plan.undeclared_T};
    r->moves.stride = r->plan.stride > 0 ? r->plan.stride : 1;
    if (r->plan.moved || r->moves.stride != 1)
        add_scheme(r, "shift", &part_shift, &r->moves);
    if (scheme)
        add_subject(r, r->plan.hooks ? r->plan.hooks : scheme, v);
    if (combine)
        add_streams(r, combine);
    r->positional.combine = !combine ? &part_sum : r->plan.merge ? r->plan.merge : combine;
    r->positional.combine_part =
        combine
            ? (struct part){.id = id, .prefix = id, .config = v->config, .files = r->subject->files}
            : (struct part){.id = "sum", .prefix = "sum"};
}

/* ---- the model ---- */

/* Moves weights off their initial values, which may be zero or equal, within their bounds. */
static void disturb(struct weights *w)
{
    for (int i = 0; i < w->n; i++) {
        struct weight *x = w->item[i];
        uint64_t stream = rng_stream(1, "check", x->name);
        for (int64_t k = 0; k < tensor_count(&x->value); k++) {
            double value = tensor_get(&x->value, k) + 0.2 * rng_uniform(stream, (uint64_t)k) - 0.1;
            if (x->bounded)
                value = fmin(fmax(value, x->lo), x->hi);
            tensor_set(&x->value, k, value);
        }
    }
}

static void build(struct rig *r)
{
    const struct rig_plan *plan = &r->plan;
    const bool llama = plan->flags & CASE_LLAMA;
    const struct model_config config = {
        .arch = plan->arch,
        .d_model = plan->D,
        .n_layer = plan->layers,
        .n_head = plan->heads,
        .norm = llama ? NORM_RMS : NORM_LAYER,
        .activation = llama ? ACTIVATION_SWIGLU : ACTIVATION_GELU,
        .d_ff = 16,
        .norm_eps = NORM_EPS,
        .bias = !llama,
        .vocab = RIG_V,
        .source_T = RIG_T,
        .T_train = RIG_T,
        .T_max = plan->T_max,
    };
    r->status = model_build(&r->model, &config, &r->positional, &r->arena, plan->dtype, 1,
                            plan->shape_only, &r->err);
    r->model.weights.step = plan->trained_step;
    if (r->status == PEAT_OK && !plan->shape_only)
        disturb(&r->model.weights);
}

struct rig *rig_open(const struct checked *s, const struct variant *v, const struct rig_plan *plan,
                     struct check_outcome *o)
{
    struct rig *r = ARENA_NEW(s->arena, struct rig);
    *r = (struct rig){.subject = s, .o = o, .plan = *plan, .config = v->config, .team = *s->team};
    r->plan.D = plan->D ? plan->D : 16;
    r->plan.heads = plan->heads ? plan->heads : 2;
    r->plan.layers = plan->layers ? plan->layers : 2;
    r->plan.T_max = plan->T_max ? plan->T_max : RIG_T_MAX;
    arena_init(&r->arena, "check", 1 << 18);
    arena_init(&r->step, "check step", 1 << 20);
    if (plan->guarded) {
        arena_guard(&r->arena, GUARD_BYTES, plan->guarded);
        arena_guard(&r->step, GUARD_BYTES, plan->guarded);
    }
    fill_positional(r, v);
    build(r);
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

/* ---- passes ---- */

static int64_t below(uint64_t stream, uint64_t i, int64_t n)
{
    return (int64_t)(rng_bits(stream, i) % (uint64_t)n);
}

int64_t rig_named(const struct rig *r, const peat_param *row)
{
    int64_t id = -1;
    if (row->type == PEAT_INT)
        memcpy(&id, (const char *)r->config + row->offset, sizeof(id));
    return id < RIG_V ? id : -1;
}

int32_t rig_token(const struct rig *r, const char *what, int64_t i)
{
    uint64_t stream = rng_stream((uint64_t)r->plan.seed, "check case", what), at = (uint64_t)i * 4;
    int64_t kind = below(stream, at, 4), id = below(stream, at + 1, RIG_V), n = 0;
    const peat_param *row = r->subject->plugin->desc->param;
    for (; kind == 0 && row && row->key; row++) {
        int64_t named = rig_named(r, row);
        if (named >= 0 && below(stream, at + 2, ++n) == 0)
            id = named;
    }
    return (int32_t)(kind == 1 ? '0' + id % 10 : id);
}

struct rig_input rig_input(struct rig *r, int64_t B, int64_t T)
{
    struct rig_input x = {.token = ARENA_ARRAY(&r->arena, B * T, int32_t),
                          .document = ARENA_ARRAY(&r->arena, B * T, int32_t),
                          .pad = ARENA_ARRAY(&r->arena, B * T, uint8_t),
                          .sequence = ARENA_ARRAY(&r->arena, B, int64_t)};
    for (int64_t i = 0; i < B * T; i++)
        x.token[i] = rig_token(r, "tokens", i);
    for (int64_t b = 0; b < B; b++)
        x.sequence[b] = 100 + b;
    x.in = (struct model_input){
        .B = B, .T = T, .token = x.token, .sequence = x.sequence, .phase = PEAT_EVAL};
    return x;
}

/* Logits that are NULL because the graph failed make the check fail with the error of the graph. */
static peat_node *with_error(struct rig *r, const struct graph *g, peat_node *logits)
{
    if (!logits && graph_failed(g)) {
        r->given_up = g->given_up;
        error_set(&r->err, g->err.status, "%s", g->err.text);
        check_fail(r->o, "%s", r->err.text);
    }
    return logits;
}

static void start(struct rig *r, struct graph *g)
{
    arena_reset(&r->step);
    graph_init(g, &r->step, &r->team, r->model.weights.dtype);
}

static peat_node *forward(struct rig *r, struct graph *g, const struct model_input *in,
                          const struct observer *o)
{
    struct pass pass = {.observer = o};
    start(r, g);
    return with_error(r, g, model_forward(&r->model, g, in, &pass));
}

/* NULL stays NULL. */
static double *take_values(struct rig *r, const peat_node *node)
{
    if (!node)
        return NULL;
    int64_t n = tensor_count(&node->value);
    double *out = ARENA_ARRAY(&r->arena, n, double);
    for (int64_t i = 0; i < n; i++)
        out[i] = tensor_get(&node->value, i);
    arena_reset(&r->step);
    return out;
}

double *rig_logits(struct rig *r, const struct model_input *in)
{
    struct graph g;
    return take_values(r, forward(r, &g, in, NULL));
}

void rig_watched(struct rig *r, const struct model_input *in, const struct observer *o)
{
    struct graph g;
    forward(r, &g, in, o);
}

double *rig_newest(struct rig *r, struct stored *stored, int64_t end)
{
    struct graph g;
    start(r, &g);
    g.no_grad = true;
    return take_values(r, with_error(r, &g, model_newest(&r->model, &g, stored, end)));
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
    peat_node *w, *logits = forward(r, g, in, NULL);
    return logits ? rig_sum(g, logits, rng_stream(1, "check", "loss"), &w) : NULL;
}

double rig_step(struct rig *r, const struct model_input *in, bool backward)
{
    struct graph g;
    peat_node *loss = rig_loss(r, &g, in);
    double value = loss ? tensor_get(&loss->value, 0) : (double)NAN;
    if (loss && backward) {
        weights_zero_grad(&r->model.weights);
        graph_backward(&g, loss);
        if (!with_error(r, &g, graph_failed(&g) ? NULL : loss))
            return NAN;
    }
    if (backward && isnan(value))
        check_fail(r->o, "the loss is not a number%s",
                   r->plan.guarded == ARENA_SHOWS_READS ? " " RIG_READS_NAN : "");
    return value;
}

int rig_digits(double a, double b)
{
    enum { LEAST = 5, MOST = 17 };
    char x[64], y[64];
    int digits = LEAST - 2;
    do {
        digits++;
        snprintf(x, sizeof(x), "%.*g", digits, a);
        snprintf(y, sizeof(y), "%.*g", digits, b);
    } while (digits < MOST - 2 && strcmp(x, y) == 0);
    return digits + 2 > LEAST ? digits + 2 : LEAST;
}
