/* SPDX-License-Identifier: MIT */
/* check_repeat.c: a pass gives numbers, and the same ones when it is made again; it writes only its
 * results, and keeps no memory. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "autograd/ops.h"
#include "property.h"

/* ---- numbers ---- */

enum verdict finite_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    int64_t T = x.in.T;
    const double *logit = rig_logits(t->rig, &x.in);
    if (!logit)
        return trial_broken(t);
    for (int64_t i = 0; i < x.in.B * T * RIG_V; i++)
        if (!isfinite(logit[i]))
            return trial_failed(t, "a logit at place %" PRId64 " of %" PRId64 " is %s",
                                i / RIG_V % T, T, isnan(logit[i]) ? "not a number" : "infinite");
    return CHECK_PASSED;
}

/* The same model again, the other way of attention. */
enum verdict paths_hold(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *fused = rig_logits(t->rig, &x.in);
    t->rig->model.config.attention_path = PATH_COMPOSED;
    const double *composed = fused ? rig_logits(t->rig, &x.in) : NULL;
    return trial_same(t, fused, composed, x.in.B * x.in.T, 0,
                      "between fused and composed attention");
}

/* ---- bits ---- */

/* Loss and gradients of one training step. */
struct outcome {
    double loss;
    size_t bytes;
    void *grad;
};

static bool run_step(struct rig *r, const struct model_input *in, struct outcome *o)
{
    o->loss = rig_step(r, in, true);
    o->bytes = (size_t)r->model.weights.size * dtype_bytes(r->model.weights.dtype);
    o->grad = arena_alloc(&r->arena, o->bytes);
    memcpy(o->grad, r->model.weights.grad, o->bytes);
    return !isnan(o->loss);
}

/* The tensor in whose gradient two blocks differ first. */
static const char *first_difference(const struct rig *r, const struct outcome *a,
                                    const struct outcome *b)
{
    const struct weights *w = &r->model.weights;
    size_t each = dtype_bytes(w->dtype);
    for (int i = 0; i < w->n; i++) {
        size_t at = (size_t)w->item[i]->offset * each;
        if (memcmp((char *)a->grad + at, (char *)b->grad + at, tensor_bytes(&w->item[i]->value)))
            return w->item[i]->name;
    }
    return NULL;
}

static enum verdict same_bits(const struct trial *t, const struct outcome *a,
                              const struct outcome *b, const char *what)
{
    if (memcmp(&a->loss, &b->loss, sizeof(a->loss)) != 0)
        return trial_failed(t, "the loss is %.17g and %.17g %s", a->loss, b->loss, what);
    const char *name = first_difference(t->rig, a, b);
    return name ? trial_failed(t, "the gradient of %s differs %s", name, what) : CHECK_PASSED;
}

static enum verdict same_in_twin(const struct trial *t, const struct model_input *in,
                                 const struct outcome *first)
{
    struct rig *twin = ARENA_NEW(t->subject->arena, struct rig);
    const struct rig_plan plan = trial_plan(t);
    struct outcome elsewhere;
    bool ran =
        rig_open(twin, t->subject, t->variant, &plan) == PEAT_OK && run_step(twin, in, &elsewhere);
    enum verdict verdict =
        ran ? same_bits(t, first, &elsewhere, "in a second model of the same kind")
            : rig_broken(twin, t->why);
    rig_close(twin);
    return verdict;
}

enum verdict purity_holds(const struct trial *t)
{
    struct rig *r = t->rig;
    struct rig_input x = trial_input(t), other = rig_input(r, 1, x.in.T > 2 ? x.in.T - 2 : 1);
    struct outcome first, again, later;
    if (!run_step(r, &x.in, &first) || !run_step(r, &x.in, &again) || !rig_logits(r, &other.in) ||
        !run_step(r, &x.in, &later))
        return trial_broken(t);
    enum verdict verdict = same_bits(t, &first, &again, "in two equal calls");
    if (verdict == CHECK_PASSED)
        verdict = same_bits(t, &first, &later, "after a call with another batch");
    return verdict == CHECK_PASSED ? same_in_twin(t, &x.in, &first) : verdict;
}

enum verdict threads_hold(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    struct outcome one, many;
    enum verdict verdict = run_step(t->rig, &x.in, &one) ? CHECK_PASSED : trial_broken(t);
    for (int n = 2; n <= 4 && verdict == CHECK_PASSED; n++) {
        t->rig->team.threads = n;
        verdict = run_step(t->rig, &x.in, &many)
                      ? same_bits(t, &one, &many,
                                  arena_printf(&t->rig->arena, "with 1 and with %d threads", n))
                      : trial_broken(t);
    }
    return verdict;
}

/* ---- buffers ---- */

/*
 * Every block that a pass takes has a zone behind it that nobody may write to. After the pass every
 * operation is run once more: a value that comes out differently was written to by another. And a
 * plugin's own operation is run in parts: no two may write the same.
 */

static bool owns_value(const peat_node *n)
{
    return n->op && !n->view_of && n->value.data && n->op->forward;
}

/* Not of weights and of what the check itself keeps. */
static enum verdict check_zones(struct strbuf *why, const struct rig *r)
{
    const char *owner = arena_overrun(&r->step);
    if (owner)
        return check_failed(why, "memory is written to around what %s was given or made",
                            *owner ? owner : "the hooks");
    if (arena_overrun(&r->arena))
        return check_failed(why, "memory is written to around the tokens, the positions or a "
                                 "trained tensor");
    return CHECK_PASSED;
}

static enum verdict replay(struct strbuf *why, struct graph *g, peat_node *n)
{
    size_t bytes = tensor_bytes(&n->value);
    char *kept = arena_alloc(g->arena, bytes);
    memcpy(kept, n->value.data, bytes);
    n->op->forward(n);
    bool same = memcmp(kept, n->value.data, bytes) == 0;
    memcpy(n->value.data, kept, bytes);
    return same ? CHECK_PASSED
                : check_failed(why, "the result of '%s'%s%s was written to by what ran after it",
                               n->op->name, n->hook ? " in " : "", n->hook ? n->hook : "");
}

/* Runs units [begin, end) into a value full of `fill`; true in `wrote` where a byte is another. */
static void run_part(peat_node *n, int64_t begin, int64_t end, int fill, bool *wrote)
{
    size_t bytes = tensor_bytes(&n->value);
    unsigned char *value = n->value.data;
    memset(value, fill, bytes);
    custom_run(n, begin, end);
    for (size_t i = 0; i < bytes; i++)
        wrote[i] = wrote[i] || value[i] != fill;
}

static enum verdict run_in_parts(struct strbuf *why, struct graph *g, peat_node *n)
{
    int64_t units = custom_units(n);
    size_t bytes = tensor_bytes(&n->value);
    if (units < 2)
        return CHECK_PASSED;
    char *kept = arena_alloc(g->arena, bytes);
    bool *first = arena_zalloc(g->arena, bytes), *rest = arena_zalloc(g->arena, bytes);
    memcpy(kept, n->value.data, bytes);
    for (int fill = 0x35; fill <= 0xca; fill += 0x95) { /* a byte may be equal to one of them */
        run_part(n, 0, units / 2, fill, first);
        run_part(n, units / 2, units, fill, rest);
    }
    memcpy(n->value.data, kept, bytes);
    for (size_t i = 0; i < bytes; i++)
        if ((first[i] && rest[i]) || ((first[i] || rest[i]) && !custom_writes(n, i)))
            return check_failed(why, "'%s' in %s writes outside of the units it is asked for",
                                n->op->name, n->hook ? n->hook : "a hook");
        else if (!first[i] && !rest[i] && custom_writes(n, i))
            return check_failed(why, "'%s' in %s leaves a part of its result unwritten",
                                n->op->name, n->hook ? n->hook : "a hook");
    return CHECK_PASSED;
}

static enum verdict check_tape(struct strbuf *why, struct graph *g)
{
    int64_t n = g->n_node;
    enum verdict verdict = CHECK_PASSED;
    for (int64_t i = 0; i < n && verdict == CHECK_PASSED; i++)
        if (owns_value(g->node[i]))
            verdict = replay(why, g, g->node[i]);
    for (int64_t i = 0; i < n && verdict == CHECK_PASSED; i++)
        if (owns_value(g->node[i]))
            verdict = run_in_parts(why, g, g->node[i]);
    return verdict;
}

/* What a pass is given. */
struct given {
    char weights[HASH_HEX], tokens[HASH_HEX], sequence[HASH_HEX];
};

static struct given read_given(const struct rig *r, const struct model_input *in)
{
    struct given x;
    weights_hash(&r->model.weights, NULL, x.weights);
    hash_bytes(in->token, (size_t)(in->B * in->T) * sizeof(*in->token), x.tokens);
    hash_bytes(in->sequence, (size_t)in->B * sizeof(*in->sequence), x.sequence);
    return x;
}

static enum verdict compare_given(struct strbuf *why, const struct given *a, const struct given *b)
{
    if (strcmp(a->weights, b->weights) != 0)
        return check_failed(why, "a trained tensor was written to");
    if (strcmp(a->tokens, b->tokens) != 0)
        return check_failed(why, "the token ids were written to");
    if (strcmp(a->sequence, b->sequence) != 0)
        return check_failed(why, "the sequence ids were written to");
    return CHECK_PASSED;
}

static enum verdict written_nowhere(const struct trial *t, const struct model_input *in,
                                    const struct given *before)
{
    const struct given after = read_given(t->rig, in);
    enum verdict verdict = compare_given(t->why, before, &after);
    return verdict == CHECK_PASSED ? check_zones(t->why, t->rig) : verdict;
}

enum verdict buffers_hold(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    struct rig *r = t->rig;
    struct graph g;
    const struct given before = read_given(r, &x.in);
    r->step.owner = &g.hook;
    peat_node *loss = rig_loss(r, &g, &x.in);
    if (!loss)
        return trial_broken(t);
    enum verdict verdict = written_nowhere(t, &x.in, &before);
    if (verdict == CHECK_PASSED)
        verdict = check_tape(t->why, &g);
    if (verdict != CHECK_PASSED)
        return verdict;
    graph_backward(&g, loss);
    return written_nowhere(t, &x.in, &before);
}

/* ---- memory ---- */

/* Steps take from arenas that have grown by then: what the system gives after that is kept by
 * somebody. */
enum verdict no_leak_holds(const struct trial *t)
{
    enum { WARM = 3, STEPS = 20 };
    struct rig_input x = trial_input(t);
    size_t before = 0;
    for (int i = 0; i < WARM + STEPS; i++) {
        if (i == WARM)
            before = state_memory();
        if (isnan(rig_step(t->rig, &x.in, true)))
            return trial_broken(t);
    }
    size_t kept = state_memory_kept(before);
    return kept == 0 ? CHECK_PASSED : trial_failed(t, "%d steps keep %zu bytes", STEPS, kept);
}
