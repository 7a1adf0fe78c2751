/* SPDX-License-Identifier: MIT */
/* positional.c: the set-up of the combination and the schemes of a cell, and their description. */
#include "nn/positional.h"

#include "nn/setup.h"

static bool at_input(const struct scheme_part *s)
{
    return s->hooks->encode && s->where.at == SITE_INPUT;
}

bool positional_at_input(const struct positional *p)
{
    for (int i = 0; i < p->n_scheme; i++)
        if (at_input(&p->scheme[i]))
            return true;
    return false;
}

static bool at_site(const struct scheme_part *s)
{
    return s->hooks->encode && s->where.at != SITE_INPUT;
}

int64_t scheme_reach(const struct scheme_part *s)
{
    return s->hooks->reach ? s->hooks->reach(s->part.config) : 0;
}

/* Refuses a scheme that works inside attention in a model without attention. */
static bool check_mixer(const struct scheme_part *s, const char *mixer, struct error *err)
{
    enum { INSIDE = ACTS_ON_HIDDEN | ACTS_ON_HEADS | ACTS_ON_STATE };
    if (!mixer)
        return true;
    if (s->where.at > SITE_RESIDUAL)
        return error_fail(err, PEAT_REFUSED,
                          "scheme '%s' enters where queries and keys are made, and model.mixer: %s "
                          "makes none (at: input or residual)",
                          s->part.id, mixer);
    if (!scheme_acts_on(s->hooks, INSIDE))
        return true;
    struct strbuf hooks = STRBUF_NEW;
    hooks_list(PEAT_SCHEME, s->hooks, INSIDE, &hooks);
    error_set(err, PEAT_REFUSED,
              "scheme '%s' works inside attention (%s), and model.mixer: %s has none", s->part.id,
              hooks.text, mixer);
    strbuf_release(&hooks);
    return false;
}

/* Refuses `where`, `at` or a model that does not suit the scheme. */
static bool check_where(const struct scheme_part *s, const peat_dims *dims, struct error *err)
{
    const peat_scheme *h = s->hooks;
    const struct where *w = &s->where;
    bool some_heads = w->head_end > 0 && w->head_end - w->head_begin < dims->H;
    bool once = at_input(s) && !scheme_acts_on(h, ACTS_IN_LAYERS);
    const struct {
        bool wrong;
        const char *why;
    } rows[] = {
        {some_heads && scheme_acts_on(h, ACTS_ON_INPUT | ACTS_ON_RESIDUAL | ACTS_ON_HIDDEN),
         "acts before the heads are split: where.heads means nothing for it"},
        {some_heads && h->needs & PEAT_MIXES_HEADS, "mixes all heads: where.heads is refused"},
        {w->dim_end > 0 && !h->qkv, "does not change q and k: where.dims means nothing for it"},
        {w->n_layer > 0 && once, "acts once, at the input: where.layers means nothing for it "
                                 "(at: residual re-adds it in layers)"},
        {w->at != SITE_INPUT && !h->encode, "has no stream: `at` means nothing for it"},
        {w->across != ACROSS_NOT && !(h->traits & PEAT_ACROSS),
         "is not defined across two sequences: where.across is refused"},
        {w->across == ACROSS_ONLY && scheme_acts_on(h, ACTS_ON_MODEL & ~ACTS_ON_HEADS),
         "acts outside attention too: where.across: only is refused"},
        {h->needs & PEAT_NEED_TOKENS && dims->V == 0,
         "reads the ids of tokens, and patches have none"},
        {h->traits & PEAT_NEEDS_CAUSAL && !dims->causal,
         "is defined only for a causal model (model.arch: decoder)"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].wrong)
            return error_fail(err, PEAT_REFUSED, "scheme '%s' %s", s->part.id, rows[i].why);
    if (h->max_axes > 1 && dims->n_axes > h->max_axes)
        return error_fail(err, PEAT_REFUSED,
                          "scheme '%s' understands %d axes of positions, and the data has %d",
                          s->part.id, (int)h->max_axes, (int)dims->n_axes);
    return true;
}

static int64_t own_width(struct positional *p, const struct scheme_part *s)
{
    if (!s->hooks->width)
        return 0;
    hook_enter(p->trail, s->part.id, HOOK_WIDTH);
    int64_t width = s->hooks->width(s->part.config);
    trail_leave(p->trail);
    return width;
}

/* Sets stream names and the widths that schemes require. Returns the number of streams that the
 * combine merges. */
static int list_streams(struct positional *p, int64_t n_segment)
{
    static const char *const name[] = {"position",   "position.2", "position.3", "position.4",
                                       "position.5", "position.6", "position.7", "position.8"};
    int n = 0, positions = 0;
    p->stream[n] = "token";
    p->width[n++] = 0;
    for (int i = 0; i < p->n_scheme; i++) {
        const struct scheme_part *s = &p->scheme[i];
        if (!at_input(s))
            continue;
        p->stream[n] = name[positions++];
        p->width[n++] = own_width(p, s);
    }
    if (n_segment > 0) {
        p->stream[n] = "segment";
        p->width[n++] = 0;
    }
    for (int i = 0; i < p->n_more; i++) {
        p->stream[n] = p->more[i];
        p->width[n++] = 0;
    }
    p->n_stream = n;
    return n;
}

/* Without a combine no positional stream is merged, and all others are added to the token's. */
static bool no_combine(struct positional *p, int64_t D, bool segment, struct error *err)
{
    for (int i = 0; i < p->n_scheme; i++)
        if (at_site(&p->scheme[i]))
            return error_fail(err, PEAT_INVALID,
                              "the stream of '%s' needs position.combine, such as sum",
                              p->scheme[i].part.id);
    if (p->n_stream > 1 + segment + p->n_more)
        return error_fail(err, PEAT_INVALID, "%d streams need a combine", p->n_stream);
    for (int i = 0; i < p->n_stream; i++)
        p->width[i] = D;
    p->width[1] = D; /* the width of a stream that enters elsewhere */
    return true;
}

/* Streams that enter elsewhere than at the input are merged by the same combine, which must keep
 * the width. */
static bool check_sites(const struct positional *p, int64_t d_model, struct error *err)
{
    for (int i = 0; i < p->n_scheme; i++) {
        const struct scheme_part *s = &p->scheme[i];
        if (at_site(s) && (p->D != d_model || p->width[0] != p->D || p->width[1] != p->D))
            return error_fail(
                err, PEAT_REFUSED,
                "combine '%s' changes widths, so the stream of '%s' can only enter at "
                "the input",
                p->combine_part.id, s->part.id);
    }
    return true;
}

static bool setup_combine(struct positional *p, struct weights *w, peat_dims *dims,
                          int64_t n_segment, struct error *err)
{
    int n = list_streams(p, n_segment);
    int64_t d_model = dims->D;
    if (!p->combine)
        return no_combine(p, d_model, n_segment > 0, err);
    bool sites = false;
    for (int i = 0; i < p->n_scheme; i++)
        sites = sites || at_site(&p->scheme[i]);
    if (sites && n < 2) {
        p->stream[1] = "position";
        p->width[1] = 0;
        n = 2;
    }
    if (n < p->combine->min_streams)
        return error_fail(err, PEAT_REFUSED, "combine '%s' needs more streams: at least %d, not %d",
                          p->combine_part.id, p->combine->min_streams, n);
    if (p->combine->max_streams > 0 && n > p->combine->max_streams)
        return error_fail(err, PEAT_REFUSED,
                          "combine '%s' has too many streams: at most %d, not %d",
                          p->combine_part.id, p->combine->max_streams, n);
    struct setup s;
    setup_init(&s, p->host, w->arena, w, &p->combine_part, dims, err);
    s.tokens = p->tokens;
    p->D = d_model;
    hook_enter(p->trail, p->combine_part.id, HOOK_COMBINE_SETUP);
    peat_status status = p->combine->setup(&s.base, p->combine_part.config, n, p->stream, p->width,
                                           &p->D, &p->combine_part.self);
    trail_leave(p->trail);
    if (setup_end(&s, status) != PEAT_OK)
        return false;
    for (int i = 0; i < n; i++)
        if (p->width[i] <= 0)
            return error_fail(err, PEAT_FAILED, "combine '%s' gave stream '%s' no width",
                              p->combine_part.id, p->stream[i]);
    return check_sites(p, d_model, err);
}

static bool setup_scheme(struct positional *p, int index, struct weights *w, const peat_dims *dims,
                         struct error *err)
{
    struct scheme_part *s = &p->scheme[index];
    if (!check_where(s, dims, err) || !check_mixer(s, p->mixer, err))
        return false;
    if (!s->hooks->setup)
        return true;
    struct setup setup;
    setup_init(&setup, p->host, w->arena, w, &s->part, dims, err);
    setup.tokens = p->tokens;
    setup.base.dims.d = s->d;
    setup.base.dims.C = positional_width(s, dims->C);
    setup.base.dims.n_axes = s->hooks->max_axes > 1 ? dims->n_axes : 1;
    setup.where = &s->where;
    if (s->where.head_end > 0)
        setup.heads = s->where.head_end - s->where.head_begin;
    hook_enter(p->trail, s->part.id, HOOK_SETUP);
    peat_status status = s->hooks->setup(&setup.base, s->part.config, &s->part.self);
    trail_leave(p->trail);
    return setup_end(&setup, status) == PEAT_OK;
}

peat_status positional_setup(struct positional *p, struct weights *w, peat_dims *dims,
                             int64_t n_segment, struct error *err)
{
    struct error why = {0};
    p->D = dims->D;
    p->failing = &p->combine_part;
    if (!setup_combine(p, w, dims, n_segment, &why))
        return error_copy(err, &why);
    dims->D = p->D;
    if (dims->D % dims->H != 0)
        return error_set(err, PEAT_REFUSED, "model width %lld is not divisible by %lld heads",
                         (long long)dims->D, (long long)dims->H);
    dims->C = dims->D / dims->H;
    int stream = 1;
    for (int i = 0; i < p->n_scheme; i++) {
        struct scheme_part *s = &p->scheme[i];
        s->d = at_input(s) ? p->width[stream++] : at_site(s) ? dims->D : 0;
    }
    for (int i = 0; i < p->n_scheme; i++) {
        p->failing = &p->scheme[i].part;
        if (!setup_scheme(p, i, w, dims, &why))
            return error_copy(err, &why);
    }
    p->failing = NULL;
    return PEAT_OK;
}

static void describe_scheme(const struct scheme_part *s, int64_t L, int64_t H, struct strbuf *out)
{
    static const char *const site[] = {"input",  "residual", "attn_q",
                                       "attn_k", "attn_qk",  "attn_qkv"};
    strbuf_addf(out, "%s: ", s->part.id);
    if (!hooks_list(PEAT_SCHEME, s->hooks, ACTS_ON_MODEL, out))
        strbuf_add(out, "nothing");
    if (s->hooks->encode)
        strbuf_addf(out, "; stream of width %lld at %s", (long long)s->d, site[s->where.at]);
    if (scheme_acts_on(s->hooks, ACTS_IN_LAYERS) || at_site(s)) {
        strbuf_add(out, "; layers");
        for (int64_t l = 0; l < L; l++)
            if (where_acts(&s->where, l))
                strbuf_addf(out, " %lld", (long long)l);
    }
    if (scheme_acts_on(s->hooks, ACTS_ON_HEADS)) {
        int64_t end = s->where.head_end > 0 ? s->where.head_end : H;
        strbuf_addf(out, "; heads %lld-%lld", (long long)s->where.head_begin, (long long)end - 1);
        if (s->where.dim_end > 0)
            strbuf_addf(out, "; dims %lld-%lld", (long long)s->where.dim_begin,
                        (long long)s->where.dim_end - 1);
        if (s->where.across != ACROSS_NOT)
            strbuf_addf(out, "; across two sequences %s",
                        s->where.across == ACROSS_ONLY ? "only" : "too");
        const char *why = scheme_needs_composed(s->hooks);
        if (why)
            strbuf_addf(out, "; composed attention (%s)", why);
    }
    strbuf_add(out, "\n");
}

void positional_describe(const struct positional *p, int64_t L, int64_t H, struct strbuf *out)
{
    for (int i = 0; i < p->n_scheme; i++)
        describe_scheme(&p->scheme[i], L, H, out);
    if (p->combine) {
        strbuf_addf(out, "%s: merges", p->combine_part.id);
        for (int i = 0; i < p->n_stream; i++)
            strbuf_addf(out, " %s[%lld]", p->stream[i], (long long)p->width[i]);
        strbuf_addf(out, " -> [%lld]\n", (long long)p->D);
    }
}
