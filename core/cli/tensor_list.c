/* SPDX-License-Identifier: MIT */
/* tensor_list.c: sets a plugin up in a model whose sizes all differ, and lists its tensors. */
#include "cli/tensor_list.h"

#include "nn/hooks.h"
#include "nn/setup.h"

/* No two of these sizes, and no small multiples of them, are equal, and none is a likely preset. */
enum { HEADS = 13, HEAD = 24, WIDTH = HEADS * HEAD, VOCAB = 1009, TRAINED = 211, LONGEST = 401 };

static const struct letter {
    int64_t size;
    const char *name;
} letters[] = {
    {WIDTH, "D"},
    {2 * WIDTH, "2 D"},
    {3 * WIDTH, "3 D"},
    {WIDTH / 2, "D/2"},
    {WIDTH / 4, "D/4"},
    {WIDTH * WIDTH, "D^2"},
    {HEAD, "C"},
    {2 * HEAD, "2 C"},
    {HEAD / 2, "C/2"},
    {HEADS, "H"},
    {VOCAB, "V"},
    {TRAINED, "T_train"},
    {2 * TRAINED, "2 T_train"},
    {LONGEST, "T_max"},
    {LONGEST - 1, "T_max - 1"},
    {2 * LONGEST - 1, "2 T_max - 1"},
};
enum { LETTERS = sizeof(letters) / sizeof(*letters) };

static void add_size(struct strbuf *out, int64_t size)
{
    for (int i = 0; i < LETTERS; i++)
        if (letters[i].size == size) {
            strbuf_add(out, letters[i].name);
            return;
        }
    strbuf_addf(out, "%" PRId64, size);
}

static const char *shape_text(const struct tensor *t, struct arena *a)
{
    struct strbuf out = STRBUF_NEW;
    for (int i = 0; i < t->rank; i++) {
        strbuf_add(&out, i ? ", " : "[");
        add_size(&out, t->dim[i]);
    }
    strbuf_add(&out, "]");
    return strbuf_keep(&out, a);
}

/* Writes a number that follows from a width as a formula: "0.1/sqrt(2 D)". */
static const char *by_width(double x, struct arena *a)
{
    static const double share[] = {1.0, 0.1};
    static const char *const text[] = {"1", "0.1"};
    for (int i = 0; i < 2 * LETTERS; i++) {
        const struct letter *l = &letters[i / 2];
        double times = share[i % 2] / x;
        if (fabs(times * times / (double)l->size - 1.0) < 1e-9)
            return arena_printf(a, "%s/sqrt(%s)", text[i % 2], l->name);
    }
    return arena_printf(a, "%.4g", x);
}

static const char *start_text(const peat_init *init, struct arena *a)
{
    switch (init->kind) {
    case PEAT_INIT_ZERO:
        return "0";
    case PEAT_INIT_CONSTANT:
        return arena_printf(a, "%.4g", init->a);
    case PEAT_INIT_NORMAL:
        return init->b == 0.0 ? arena_printf(a, "%.4g", init->a)
               : init->a == 0.0
                   ? arena_printf(a, "normal, %s", by_width(init->b, a))
                   : arena_printf(a, "normal about %.4g, %s", init->a, by_width(init->b, a));
    case PEAT_INIT_UNIFORM:
        return init->a == -init->b ? arena_printf(a, "uniform, at most %s", by_width(init->b, a))
                                   : arena_printf(a, "uniform in %.4g ... %.4g", init->a, init->b);
    case PEAT_INIT_EYE:
        return arena_printf(a, "%.4g times the identity", init->a);
    case PEAT_INIT_VALUES:
        return "values, see its page";
    }
    BUG("no such initialiser: %d", (int)init->kind);
}

static const char *note_text(const struct weight *w, struct arena *a)
{
    const char *text = w->frozen ? "frozen" : w->decay ? "" : "no decay";
    if (!w->bounded)
        return text;
    const char *comma = *text ? ", " : "";
    return isinf(w->hi) ? arena_printf(a, "%s%sat least %.4g", text, comma, w->lo)
                        : arena_printf(a, "%s%skept in [%.4g, %.4g]", text, comma, w->lo, w->hi);
}

/* ---- set-up ---- */

struct trial {
    struct part part;
    struct where where;
    struct weights weights;
};

static peat_dims trial_dims(peat_kind kind, const peat_plugin *desc)
{
    const peat_scheme *scheme = kind == PEAT_SCHEME ? desc->interface : NULL;
    return (peat_dims){.size = sizeof(peat_dims),
                       .D = WIDTH,
                       .H = HEADS,
                       .C = HEAD,
                       .L = 1,
                       .V = VOCAB,
                       .d = scheme && scheme->encode ? WIDTH : 0,
                       .T_train = TRAINED,
                       .T_max = LONGEST,
                       .n_axes = 1,
                       .causal = true};
}

static peat_status run_setup(struct setup *s, const peat_plugin *desc, struct part *part)
{
    static const char *const stream[] = {"token", "position"};
    int64_t width[] = {0, 0}, out = WIDTH;
    if (desc->kind == PEAT_COMBINE) {
        const peat_combine *hooks = desc->interface;
        return hooks->setup(&s->base, part->config, 2, stream, width, &out, &part->self);
    }
    const peat_scheme *hooks = desc->interface;
    return hooks->setup ? hooks->setup(&s->base, part->config, &part->self) : PEAT_OK;
}

static bool set_up(struct trial *t, const struct plugin *p, const void *config, peat_scope share,
                   struct trail *trail, struct arena *a, struct error *err)
{
    const peat_plugin *desc = p->desc;
    bool scheme = desc->kind == PEAT_SCHEME;
    const peat_dims dims = trial_dims(desc->kind, desc);
    struct setup setup;
    *t = (struct trial){.part = {.id = p->name, .prefix = "", .plugin = p, .config = config},
                        .where = {.share = share}};
    weights_init(&t->weights, a, PEAT_F32);
    setup_init(&setup, host_table(), a, &t->weights, &t->part, &dims, err);
    setup.where = scheme ? &t->where : NULL;
    hook_enter(trail, p->name, scheme ? HOOK_SETUP : HOOK_COMBINE_SETUP);
    peat_status status = run_setup(&setup, desc, &t->part);
    trail_leave(trail);
    return setup_end(&setup, status) == PEAT_OK;
}

static const char *each_text(const struct scheme_weight *once, const struct scheme_weight *shared)
{
    return once->scope == PEAT_PER_LAYER     ? "each layer"
           : shared->scope == PEAT_PER_LAYER ? "`share`"
                                             : "the model";
}

bool tensor_list(const struct plugin *p, const void *config, struct trail *trail, struct arena *a,
                 struct tensor_row **row, int *n, struct error *err)
{
    struct trial *once = ARENA_NEW(a, struct trial), *shared = ARENA_NEW(a, struct trial);
    if (!set_up(once, p, config, PEAT_ONCE, trail, a, err) ||
        !set_up(shared, p, config, PEAT_PER_LAYER, trail, a, err))
        return false;
    *n = once->part.n_weight;
    *row = ARENA_ARRAY(a, *n, struct tensor_row);
    for (int i = 0; i < *n; i++) {
        const struct scheme_weight *sw = &once->part.weight[i];
        const struct weight *w = sw->layer[0];
        (*row)[i] = (struct tensor_row){
            .name = sw->name,
            .shape = shape_text(&w->value, a),
            .starts = start_text(&w->init, a),
            .each = each_text(sw, &shared->part.weight[i]),
            .note = note_text(w, a),
        };
    }
    return true;
}
