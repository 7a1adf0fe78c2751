/* SPDX-License-Identifier: MIT */
/* check_repeat.c: passes are finite and repeatable, keep no memory and write only their results. */

#include "plugin/params.h"
#include "property.h"

/* Moves positions apart, the last to about 4900. */
static void go_far(const struct trial *t)
{
    t->rig->shim.stride = (double)(4900 / t->x->b.T);
}

/* Gradients may be infinite where the loss is, at a logit of -inf. */
static void all_finite(const struct trial *t, const struct model_input *in, const char *where)
{
    int64_t places = rig_has_places(t->rig) ? in->rows.T : 1;
    const double *logit = rig_logits(t->rig, in);
    const struct weights *w = &t->rig->s.model.weights;
    for (int64_t i = 0; logit && i < in->B * places * t->rig->V; i++)
        if (!isfinite(logit[i]))
            trial_fail(t, "a logit at place %" PRId64 " of %" PRId64 "%s is %s",
                       i / t->rig->V % places, places, where,
                       isnan(logit[i]) ? "not a number" : "infinite");
    if (!logit || t->o->verdict != CHECK_PASSED)
        return;
    rig_step(t->rig, in, true);
    for (int i = 0; i < w->n && !w->item[i]->frozen; i++)
        for (int64_t k = 0; k < tensor_count(&w->item[i]->grad); k++)
            if (!isfinite(tensor_get(&w->item[i]->grad, k)))
                trial_fail(t, "the gradient of %s%s is not finite", w->item[i]->name, where);
}

void finite_holds(const struct trial *t)
{
    all_finite(t, &t->x->in, "");
    *t->x = rig_part(t->rig, t->x, -1, 0, 1 + trial_draw(t, "length", 2) * (t->x->b.T > 1));
    all_finite(t, &t->x->in, "");
}

void far_holds(const struct trial *t)
{
    struct shim *shim = &t->rig->shim;
    go_far(t);
    all_finite(t, &t->x->in,
               arena_printf(&t->rig->arena, ", with positions %g apart,", shim->stride));
    shim->by = -shim->stride * (double)(t->x->b.T / 2);
    all_finite(t, &t->x->in, ", with positions below 0,");
}

void wider_holds(const struct trial *t)
{
    t->rig->shim.wider = true;
    all_finite(t, &t->x->in, ", with q and k twice as wide,");
}

void paths_hold(const struct trial *t)
{
    const double *fused = trial_logits(t);
    t->rig->s.model.config.attention_path = PATH_COMPOSED;
    trial_stays(t, fused, "between fused and composed attention");
}

/* ---- bits ---- */

/* The loss and the gradients of one training step. */
struct step {
    double loss;
    char *grad;
};

static struct step run_step(struct rig *r, const struct model_input *in)
{
    const struct weights *w = &r->s.model.weights;
    size_t bytes = (size_t)w->size * dtype_bytes(w->dtype);
    double loss = rig_step(r, in, true);
    return (struct step){loss, memcpy(arena_alloc(&r->arena, bytes + 1), w->grad, bytes)};
}

static void same_bits(const struct trial *t, const struct step *a, const struct step b,
                      const char *what)
{
    const struct weights *w = &t->rig->s.model.weights;
    if (memcmp(&a->loss, &b.loss, sizeof(b.loss)) != 0)
        trial_fail(t, "the loss is %.17g and %.17g %s", a->loss, b.loss, what);
    for (int i = 0; i < w->n; i++) {
        size_t at = (size_t)w->item[i]->offset * dtype_bytes(w->dtype);
        if (memcmp(a->grad + at, b.grad + at, tensor_bytes(&w->item[i]->value)))
            trial_fail(t, "the gradient of %s differs %s", w->item[i]->name, what);
    }
}

/* Passes in both phases, at a step that no trial has, and over rows with padding. Whether they are
 * refused is not looked at. */
static void pass_otherwise(const struct trial *t, struct rig *r)
{
    struct check_outcome ignored = {CHECK_PASSED};
    r->o = &ignored;
    r->s.model.weights.step = 3;
    for (int i = 0; i < 4; i++) {
        struct rig_input x = rig_input(r, i % 2 ? PEAT_TRAIN : PEAT_EVAL);
        x.in.step = i % 2 ? 3 : 0;
        if (i > 1)
            trial_pad(t, &x);
        rig_step(r, &x.in, i % 2);
    }
    r->s.model.weights.step = r->plan.trained_step;
    r->o = t->o;
}

/* Unless the plan is to show reads, the second model makes other passes first. */
static void same_in_twin(const struct trial *t, const struct rig_plan *plan,
                         const struct step *first, const char *what)
{
    struct rig *twin = trial_open(t, plan);
    if (!twin) {
        check_fail(t->o, "its set-up fails the second time");
        return;
    }
    struct rig_input x = trial_input(t, twin);
    twin->shim.stride = t->rig->shim.stride;
    if (!plan->guarded)
        pass_otherwise(t, twin);
    same_bits(t, first, run_step(twin, &x.in), what);
    rig_close(twin);
}

/* The second model has a copy of the parameters, and those of the first change to others. */
void purity_holds(const struct trial *t)
{
    struct rig *r = t->rig;
    const struct step first = run_step(r, &t->x->in);
    struct rig_plan plan = trial_plan(t);
    size_t bytes = t->subject->plugin->desc->config_size;
    void *config = rig_config(r), *own = arena_alloc(&r->arena, bytes + 1);
    const void *other = config;
    same_bits(t, &first, run_step(r, &t->x->in), "in two equal calls");
    for (int i = 0; i < 8 && memcmp(other, config, bytes) == 0; i++)
        if (!checked_config(t->subject, settings_drawn(t->subject, i), &other, NULL))
            other = config;
    plan.config = memcpy(own, config, bytes);
    memcpy(config, other, bytes);
    same_in_twin(t, &plan, &first,
                 "in a second model of the same kind, which made passes of other steps before");
    memcpy(config, own, bytes);
}

void threads_hold(const struct trial *t)
{
    const struct step one = run_step(t->rig, &t->x->in);
    for (int n = 2; n <= 4; n++) {
        t->rig->team.threads = n;
        same_bits(t, &one, run_step(t->rig, &t->x->in),
                  arena_printf(&t->rig->arena, "with 1 and with %d threads", n));
    }
}

/* ---- buffers ---- */

/* Every block that a pass takes has a guard zone behind it, which must not change. After the pass
 * every operation is run again: a result that differs was overwritten by another operation. A
 * plugin's own operation is also run in two parts, which must not write the same bytes. */

/* Checks the zones of the step's memory, and of the rig's: tokens, positions, weights. */
static void check_zones(const struct trial *t)
{
    const char *owner = arena_overrun(&t->rig->step);
    if (owner)
        trial_fail(t, "memory is written to around what %s was given or made",
                   *owner ? owner : "the hooks");
    if (arena_overrun(&t->rig->arena))
        trial_fail(t, "memory is written to around the tokens, the positions or a trained tensor");
}

/* Copies the blocks, or says whether they are as they were when they were copied. */
static bool blocks_stay(const struct trial *t, struct kept *x, int n, bool copy)
{
    bool same = true;
    for (int i = 0; i < n; i++)
        if (copy)
            x[i].was = memcpy(arena_alloc(&t->rig->arena, x[i].bytes + 1), x[i].at, x[i].bytes);
        else
            same = same && memcmp(x[i].was, x[i].at, x[i].bytes) == 0;
    return same;
}

static void replay(const struct trial *t, struct graph *g, peat_node *n)
{
    size_t bytes = tensor_bytes(&n->value);
    char *kept = arena_alloc(g->arena, bytes);
    memcpy(kept, n->value.data, bytes);
    n->op->forward(n);
    if (memcmp(kept, n->value.data, bytes) != 0)
        trial_fail(t, "the result of '%s'%s%s was written to by what ran after it", n->op->name,
                   n->hook ? " in " : "", n->hook ? n->hook : "");
    memcpy(n->value.data, kept, bytes);
}

/* Fills the value with `fill`, runs units [begin, end), and marks changed bytes in `wrote`. */
static void run_part(peat_node *n, int64_t begin, int64_t end, int fill, bool *wrote)
{
    size_t bytes = tensor_bytes(&n->value);
    unsigned char *value = n->value.data;
    memset(value, fill, bytes);
    custom_run(n, begin, end);
    for (size_t i = 0; i < bytes; i++)
        wrote[i] = wrote[i] || value[i] != fill;
}

/* Units may run at the same time, so they must not write to what the hook's scratch memory holds.
 */
static void run_in_parts(const struct trial *t, struct graph *g, peat_node *n)
{
    struct shim *shim = &t->rig->shim;
    int64_t units = custom_units(n);
    size_t bytes = tensor_bytes(&n->value);
    const char *hook = n->hook ? n->hook : "a hook", *wrong = NULL;
    if (units < 2)
        return;
    char *kept = arena_alloc(g->arena, bytes);
    bool *first = arena_zalloc(g->arena, bytes), *rest = arena_zalloc(g->arena, bytes);
    memcpy(kept, n->value.data, bytes);
    for (int fill = 0x35; fill <= 0xca; fill += 0x95) { /* a written byte may equal one fill */
        run_part(n, 0, units / 2, fill, first);
        blocks_stay(t, shim->scratch, shim->n_scratch, true);
        run_part(n, units / 2, units, fill, rest);
        if (!blocks_stay(t, shim->scratch, shim->n_scratch, false))
            wrong = "writes to scratch memory of its hook, which all units share";
    }
    memcpy(n->value.data, kept, bytes);
    for (size_t i = 0; i < bytes && !wrong; i++)
        if ((first[i] && rest[i]) || ((first[i] || rest[i]) && !custom_writes(n, i)))
            wrong = "writes outside of the units it is asked for";
        else if (!first[i] && !rest[i] && custom_writes(n, i))
            wrong = "leaves a part of its result unwritten";
    if (wrong)
        trial_fail(t, "'%s' in %s %s", n->op->name, hook, wrong);
}

/* Runs all operations again before any is run in parts. */
static void check_tape(const struct trial *t, struct graph *g)
{
    static void (*const pass[])(const struct trial *, struct graph *, peat_node *) = {replay,
                                                                                      run_in_parts};
    for (int64_t n = g->n_node, i = 0; i < 2 * n && t->o->verdict == CHECK_PASSED; i++) {
        peat_node *x = g->node[i % n];
        if (x->op && !x->view_of && x->value.data && x->op->forward)
            pass[i / n](t, g, x);
    }
}

/* Hashes of the arrays that a pass is given: weights, tokens, ids of sequences. */
static void read_given(const struct trial *t, char hash[3][HASH_HEX])
{
    const struct model_input *in = &t->x->in;
    weights_hash(&t->rig->s.model.weights, NULL, hash[0]);
    hash_bytes(in->rows.token,
               in->rows.token ? (size_t)(in->B * in->rows.T) * sizeof(*in->rows.token) : 0,
               hash[1]);
    hash_bytes(in->rows.sequence, (size_t)in->B * sizeof(*in->rows.sequence), hash[2]);
}

static void written_nowhere(const struct trial *t, char before[3][HASH_HEX])
{
    static const char *const what[] = {"a trained tensor was", "the token ids were",
                                       "the sequence ids were"};
    char after[3][HASH_HEX];
    read_given(t, after);
    for (int i = 0; i < 3; i++)
        if (strcmp(before[i], after[i]) != 0)
            trial_fail(t, "%s written to", what[i]);
    check_zones(t);
}

void buffers_hold(const struct trial *t)
{
    struct graph g;
    char before[3][HASH_HEX];
    read_given(t, before);
    t->rig->step.owner = &g.hook;
    peat_node *loss = rig_loss(t->rig, &g, &t->x->in);
    written_nowhere(t, before);
    if (t->o->verdict == CHECK_PASSED)
        check_tape(t, &g);
    if (t->o->verdict == CHECK_PASSED) {
        graph_backward(&g, loss);
        written_nowhere(t, before);
    }
}

/* Only in the second model, scratch memory and the zones around each block hold NaN. */
void reads_hold(const struct trial *t)
{
    struct rig_plan plan = trial_plan(t);
    go_far(t);
    const struct step first = run_step(t->rig, &t->x->in);
    plan.guarded = ARENA_SHOWS_READS;
    same_in_twin(t, &plan, &first, RIG_READS_NAN);
}

/* Set-up and hooks change no parameter, and hooks neither the bytes of the config nor the memory
 * that set-up took. */
void setup_stays(const struct trial *t)
{
    struct rig *r = t->rig;
    const struct rig_plan plan = trial_plan(t);
    const peat_plugin *desc = t->subject->plugin->desc;
    struct kept config = {rig_config(r), NULL, desc->config_size};
    const struct value *shown = params_value(desc->param, config.at, &r->arena);
    rig_close(rig_open(t->subject, t->cell, &plan, t->o));
    blocks_stay(t, r->shim.kept, r->shim.n_kept, true);
    blocks_stay(t, &config, 1, true);
    rig_step(r, &t->x->in, true);
    rig_step(r, &t->x->in, true);
    if (!blocks_stay(t, r->shim.kept, r->shim.n_kept, false))
        trial_fail(t, "its hooks change memory that its set-up took");
    if (!blocks_stay(t, &config, 1, false))
        trial_fail(t, "its hooks change its parameters");
    if (!value_equal(shown, params_value(desc->param, config.at, &r->arena)))
        trial_fail(t, "it changes its parameters: another set-up has others");
}

void starts_inside(const struct trial *t)
{
    const struct weight *w = t->rig->outside;
    if (w)
        trial_fail(t, "%s starts outside its bounds, %g to %g: the first update moves it there",
                   w->name, w->lo, w->hi);
}

/* ---- streams and costs ---- */

struct changed_stream {
    int which, seen; /* the stream that is changed, and how many were seen */
};

static peat_node *change_stream(void *ctx, struct pass *pass, enum stream_kind kind, int scheme,
                                peat_node *x)
{
    struct changed_stream *c = ctx;
    (void)scheme;
    if (kind == STREAM_TOKEN || c->seen++ != c->which)
        return x;
    int64_t d = x->value.dim[2];
    peat_node *other = graph_constant(pass->g, pass->g->dtype, 3, (int64_t[]){1, 1, d}, NULL);
    for (int64_t i = 0; other && i < d; i++) /* not what a norm takes away */
        tensor_set(&other->value, i, sin((double)(1 + i * i)));
    return peat_add(&pass->g->base, x, other);
}

/* A stream that enters where nothing reads it changes no logit. A combination may leave out the
 * tokens, but no other stream. */
void streams_matter(const struct trial *t)
{
    struct rig *r = t->rig;
    if (r->config.model.window == 1 || t->x->b.T == 1)
        return; /* a query sees one key, whatever it is */
    size_t n = rig_logits_bytes(r, &t->x->in);
    const double *as_is = rig_logits(r, &t->x->in);
    struct changed_stream c = {.which = 0};
    do {
        const struct observer o = {.ctx = &c, .stream = change_stream};
        c.seen = 0;
        const double *changed = rig_observed(r, &t->x->in, &o);
        if (c.which < c.seen && as_is && changed && memcmp(as_is, changed, n) == 0)
            trial_fail(t, "stream %d of the input, after that of tokens, changes no logit",
                       c.which + 1);
    } while (++c.which < c.seen);
}

void costs_hold(const struct trial *t)
{
    struct graph g;
    if (!rig_loss(t->rig, &g, &t->x->in))
        return;
    for (int i = 0; i < g.n_node; i++) {
        const peat_node *n = g.node[i];
        int64_t flops = n->op && n->op->flops ? n->op->flops(n) : 0;
        if (flops < 0)
            trial_fail(t, "'%s' in %s costs %" PRId64 " operations", n->op->name,
                       n->hook ? n->hook : "a hook", flops);
    }
}

/* ---- memory ---- */

/* The first steps let the arenas grow. Memory that later steps take from the system is a leak. */
void no_leak_holds(const struct trial *t)
{
    enum { WARM = 3, STEPS = 20 };
    size_t before = 0;
    for (int i = 0; i < WARM + STEPS; i++) {
        before = i == WARM ? state_memory() : before;
        rig_step(t->rig, &t->x->in, true);
    }
    size_t kept = state_memory_kept(before);
    if (kept > 0)
        trial_fail(t, "%d steps keep %zu bytes", STEPS, kept);
}
