/* SPDX-License-Identifier: MIT */
/* diagnosis_text.c: a diagnosis for people. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/shown.h"
#include "diagnose/diagnostics.h"

struct page {
    struct strbuf *out;
    int width;
};

/* ---- words and numbers ---- */

/* Text broken into lines at spaces, each two columns in. */
static void add_wrapped(const struct page *p, const char *text)
{
    int room = p->width - 2, at = 0;
    strbuf_add(p->out, "  ");
    for (const char *word = text; *word;) {
        int n = (int)strcspn(word, " ");
        if (at > 0 && at + 1 + n > room) {
            strbuf_add(p->out, "\n  ");
            at = 0;
        }
        strbuf_addf(p->out, "%s%.*s", at > 0 ? " " : "", n, word);
        at += n + (at > 0);
        word += n + (word[n] == ' ');
    }
    strbuf_add(p->out, "\n");
}

/* A number in `width` columns; "-" where there is none. */
static void add_number(struct strbuf *out, int width, const char *format, double x)
{
    char text[32] = "-";
    if (!isnan(x))
        snprintf(text, sizeof(text), format, x);
    strbuf_addf(out, "%*s", width, text);
}

static void add_percent(struct strbuf *out, int width, double share)
{
    add_number(out, width, "%.1f", 100 * share);
}

static int64_t layer_of(const struct value *v)
{
    return json_get_int(v, "layer", 0);
}

/* ---- logits ---- */

static const char *const term_heads[] = {"token.token", "token.position", "position.token",
                                         "position.position"};

/* The four terms, all others but the bias, the bias. */
static void add_shares(struct strbuf *out, const struct value *share)
{
    double rest = 0.0;
    for (int i = 0; share && i < share->n; i++)
        rest += share->item[i]->kind == VALUE_REAL ? share->item[i]->real : 0.0;
    double bias = json_get_number(share, "bias");
    rest -= isnan(bias) ? 0.0 : bias;
    for (int i = 0; i < 4; i++) {
        double x = json_get_number(share, term_heads[i]);
        rest -= isnan(x) ? 0.0 : x;
        add_percent(out, 10, x);
    }
    add_percent(out, 10, rest < 1e-5 ? 0.0 : rest);
    add_percent(out, 8, bias);
    strbuf_add(out, "\n");
}

static void add_logits(const struct page *p, const struct value *v)
{
    const struct value *layers = value_get(v, "layers");
    strbuf_add(p->out,
               "  % of the terms' variance, query.key\n"
               "  layer   head   tok.tok   tok.pos   pos.tok   pos.pos    others    bias\n");
    for (int i = 0; layers && i < layers->n; i++) {
        const struct value *l = layers->item[i], *heads = value_get(l, "heads");
        for (int h = 0; i == 0 && heads && h < heads->n; h++) {
            strbuf_addf(p->out, "  %5" PRId64 "%7" PRId64, layer_of(l),
                        json_get_int(heads->item[h], "head", 0));
            add_shares(p->out, value_get(heads->item[h], "share"));
        }
        strbuf_addf(p->out, "  %5" PRId64 "   mean", layer_of(l));
        add_shares(p->out, value_get(l, "share"));
    }
    if (layers && layers->n > 1)
        add_wrapped(p, "Layer 0 is exact; deeper layers are attributed with norms, attention "
                       "weights and activations held fixed.");
    const char *stopped = json_get_text(v, "stopped");
    if (stopped)
        add_wrapped(p, stopped);
}

/* ---- sizes ---- */

static void add_sizes_line(const struct page *p, const char *when, const struct value *v)
{
    static const char *const key[] = {"token", "position", "ratio", "cosine", "cosine_size"};
    strbuf_addf(p->out, "  %-16s", when);
    for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++)
        add_number(p->out, 10, i < 3 ? "%.3g" : "%.3f", json_get_number(v, key[i]));
    strbuf_add(p->out, "\n");
}

static void add_sizes(const struct page *p, const struct value *v)
{
    const struct value *start = value_get(v, "start");
    const char *left_out = json_get_text(v, "left_out");
    strbuf_add(p->out, "                       token  position     ratio    cosine  |cosine|\n");
    if (start)
        add_sizes_line(p, "before training", start);
    add_sizes_line(p, "now", v);
    if (left_out)
        add_wrapped(p, left_out);
}

/* ---- subspaces ---- */

static void add_space(const struct page *p, const struct value *v, const char *key)
{
    const struct value *one = value_get(v, key);
    strbuf_addf(p->out, "  %-9s%7" PRId64 "%7" PRId64, key, json_get_int(one, "rows", 0),
                json_get_int(one, "rank", 0));
    add_number(p->out, 11, "%.1f", json_get_number(one, "effective"));
    strbuf_add(p->out, "\n");
}

static void add_subspaces(const struct page *p, const struct value *v)
{
    const struct value *random = value_get(v, "random");
    strbuf_add(p->out, "              rows   rank  effective\n");
    add_space(p, v, "token");
    add_space(p, v, "position");
    add_space(p, v, "sum");
    strbuf_add(p->out, "  angles in degrees: smallest");
    add_number(p->out, 7, "%.2f", json_get_number(v, "smallest"));
    strbuf_add(p->out, ", mean");
    add_number(p->out, 7, "%.2f", json_get_number(v, "mean"));
    strbuf_add(p->out, "; random: mean");
    add_number(p->out, 7, "%.2f", json_get_number(random, "mean"));
    strbuf_add(p->out, "\n");
}

/* ---- support ---- */

static void add_support(const struct page *p, const struct value *v)
{
    const struct value *blocks = value_get(v, "blocks");
    strbuf_add(p->out, "  loss change (nats) without    dimensions     token  position\n");
    for (int i = 0; blocks && i < blocks->n; i++) {
        const struct value *b = blocks->item[i];
        strbuf_addf(p->out, "  %26s%6" PRId64 "-%-6" PRId64, "", json_get_int(b, "begin", 0),
                    json_get_int(b, "end", 0) - 1);
        add_number(p->out, 9, "%+.4f", json_get_number(b, "token"));
        add_number(p->out, 10, "%+.4f", json_get_number(b, "position"));
        strbuf_add(p->out, "\n");
    }
}

/* ---- collisions ---- */

/* "'e' at 5", or "token 7 at 5" where a token has no text. */
static void add_token(struct strbuf *out, const struct value *pair, const char *number,
                      const char *text, const char *position)
{
    const char *shown = json_get_text(pair, text);
    if (shown) {
        strbuf_add(out, "'");
        shown_add(out, shown, "");
        strbuf_add(out, "'");
    } else {
        strbuf_addf(out, "token %" PRId64, json_get_int(pair, number, 0));
    }
    strbuf_addf(out, " at %" PRId64, json_get_int(pair, position, 0));
}

static void add_collisions(const struct page *p, const struct value *v)
{
    const struct value *decoded = value_get(v, "decoded"), *pairs = value_get(v, "pairs");
    strbuf_add(p->out, "  decoded right, %    noise     token  position      both\n");
    for (int i = 0; decoded && i < decoded->n; i++) {
        const struct value *d = decoded->item[i];
        add_number(p->out, 25, "%.1f", json_get_number(d, "noise"));
        add_percent(p->out, 10, json_get_number(d, "token"));
        add_percent(p->out, 10, json_get_number(d, "position"));
        add_percent(p->out, 10, json_get_number(d, "both"));
        strbuf_add(p->out, "\n");
    }
    for (int i = 0; pairs && i < pairs->n && i < 3; i++) {
        const struct value *c = pairs->item[i];
        strbuf_add(p->out, "  nearest: ");
        add_token(p->out, c, "token_a", "text_a", "position_a");
        strbuf_add(p->out, " and ");
        add_token(p->out, c, "token_b", "text_b", "position_b");
        strbuf_add(p->out, ", ");
        add_number(p->out, 0, "%.3g", json_get_number(c, "distance"));
        strbuf_add(p->out, " of the mean distance\n");
    }
}

/* ---- probes and order ---- */

static void add_probes(const struct page *p, const struct value *v)
{
    const struct value *layers = value_get(v, "layers"), *chance = value_get(v, "chance");
    strbuf_add(p->out, "  after blocks   position R2   position %   token %\n");
    for (int i = 0; layers && i < layers->n; i++) {
        const struct value *l = layers->item[i];
        strbuf_addf(p->out, "  %12" PRId64, layer_of(l));
        add_number(p->out, 14, "%.3f", json_get_number(l, "position_r2"));
        add_percent(p->out, 13, json_get_number(l, "position_accuracy"));
        add_percent(p->out, 10, json_get_number(l, "token_accuracy"));
        strbuf_add(p->out, "\n");
    }
    strbuf_addf(p->out, "  %12s%14s", "chance", "");
    add_percent(p->out, 13, json_get_number(chance, "position_accuracy"));
    add_percent(p->out, 10, json_get_number(chance, "token_accuracy"));
    strbuf_add(p->out, "\n");
}

static void add_order(const struct page *p, const struct value *v)
{
    const struct value *layers = value_get(v, "layers");
    for (int i = 0; layers && i < layers->n; i++) {
        const struct value *l = layers->item[i];
        strbuf_addf(p->out, "  after blocks %-3" PRId64, layer_of(l));
        add_number(p->out, 12, "%.3g", json_get_number(l, "change"));
        strbuf_addf(p->out, "%s\n", json_get_bool(l, "must_be_zero") ? "   (must be zero)" : "");
    }
}

/* ---- attention ---- */

enum { PROFILE_LEFT = 63, PROFILE_BIN = 7 };

static void add_profile_head(const struct page *p, const struct value *distances, int fit)
{
    strbuf_add(p->out, "  layer head entropy %max  dist  self first  by dist  bias   turn");
    for (int i = 0; i < fit; i++) {
        char text[48];
        const struct value *d = distances->item[i];
        if (d->item[0]->integer == d->item[1]->integer)
            snprintf(text, sizeof(text), "%" PRId64, d->item[0]->integer);
        else
            snprintf(text, sizeof(text), "%" PRId64 "-%" PRId64, d->item[0]->integer,
                     d->item[1]->integer);
        strbuf_addf(p->out, "%*s", PROFILE_BIN, text);
    }
    strbuf_add(p->out, "\n");
}

static void add_profile(const struct page *p, int64_t layer, const struct value *h, int fit)
{
    struct strbuf *out = p->out;
    const struct value *by = value_get(h, "by_distance");
    strbuf_addf(out, "  %5" PRId64 "%5" PRId64, layer, json_get_int(h, "head", 0));
    add_number(out, 8, "%.2f", json_get_number(h, "entropy"));
    add_number(out, 5, "%.0f", 100 * json_get_number(h, "entropy_share"));
    add_number(out, 6, "%.1f", json_get_number(h, "mean_distance"));
    add_number(out, 6, "%.0f", 100 * json_get_number(h, "self"));
    add_number(out, 6, "%.0f", 100 * json_get_number(h, "first"));
    add_number(out, 9, "%.0f", 100 * json_get_number(h, "distance_share"));
    add_number(out, 6, "%.0f", 100 * json_get_number(h, "bias_share"));
    add_number(out, 7, "%.0f", 100 * json_get_number(h, "rotation_share"));
    for (int i = 0; by && i < fit && i < by->n; i++)
        add_percent(out, PROFILE_BIN,
                    by->item[i]->kind == VALUE_REAL ? by->item[i]->real : (double)NAN);
    strbuf_add(out, "\n");
}

static void add_attention(const struct page *p, const struct value *v)
{
    const struct value *layers = value_get(v, "layers"), *distances = value_get(v, "distances");
    const struct value *uniform = value_get(v, "uniform");
    int fit = (p->width - PROFILE_LEFT) / PROFILE_BIN;
    fit = fit < 0 || !distances ? 0 : fit < distances->n ? fit : distances->n;
    add_wrapped(p, "self, first: % of the weight on the query itself and on the first key; by "
                   "dist, bias, turn: % of the logits' variance; then % of the weight by distance");
    add_profile_head(p, distances, fit);
    for (int i = 0; layers && i < layers->n; i++) {
        const struct value *heads = value_get(layers->item[i], "heads");
        for (int h = 0; heads && h < heads->n; h++)
            add_profile(p, layer_of(layers->item[i]), heads->item[h], fit);
    }
    if (!uniform || fit == 0)
        return;
    strbuf_addf(p->out, "  %-*s", PROFILE_LEFT - 2, "uniform attention");
    for (int i = 0; i < fit && i < uniform->n; i++)
        add_percent(p->out, PROFILE_BIN,
                    uniform->item[i]->kind == VALUE_REAL ? uniform->item[i]->real : (double)NAN);
    strbuf_add(p->out, "\n");
}

/* ---- the page ---- */

typedef void (*section_fn)(const struct page *p, const struct value *v);

static section_fn section_of(const char *name)
{
    static const struct {
        const char *name;
        section_fn add;
    } all[] = {{"logits", add_logits},         {"sizes", add_sizes},
               {"subspaces", add_subspaces},   {"support", add_support},
               {"collisions", add_collisions}, {"probes", add_probes},
               {"order", add_order},           {"attention", add_attention}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (!strcmp(all[i].name, name))
            return all[i].add;
    return NULL;
}

static void add_head(const struct page *p, const struct value *v)
{
    const struct value *notes = value_get(v, "notes");
    strbuf_addf(p->out,
                "%s: %s, %s; %s of %" PRId64 " layers, %" PRId64 " heads, width %" PRId64 "\n",
                json_get_text(v, "label"), json_get_text(v, "scheme"), json_get_text(v, "combine"),
                json_get_bool(v, "causal") ? "decoder" : "encoder", json_get_int(v, "layers", 0),
                json_get_int(v, "heads", 0), json_get_int(v, "width", 0));
    strbuf_addf(p->out, "step %" PRId64 "; %" PRId64 " windows of %" PRId64 " tokens, loss ",
                json_get_int(v, "step", 0), json_get_int(v, "windows", 0),
                json_get_int(v, "length", 0));
    add_number(p->out, 0, "%.4f", json_get_number(v, "loss"));
    strbuf_add(p->out, " nats\n");
    for (int i = 0; notes && i < notes->n; i++)
        strbuf_addf(p->out, "note: %s\n", notes->item[i]->text);
}

static void add_section(const struct page *p, const struct diagnostic *d, const struct value *v)
{
    const char *skipped = json_get_text(v, "skipped"), *summary = json_get_text(v, "summary");
    section_fn add = section_of(d->name);
    strbuf_addf(p->out, "\n%s (%s)\n", d->title, d->name);
    add_wrapped(p, d->meaning);
    if (skipped) {
        strbuf_addf(p->out, "  none: %s\n", skipped);
        return;
    }
    if (summary)
        add_wrapped(p, summary);
    if (add)
        add(p, v);
}

void diagnosis_page(const struct value *v, int width, struct strbuf *out)
{
    const struct page p = {out, width};
    add_head(&p, v);
    for (const struct diagnostic *d = diagnostics; d->name; d++)
        if (value_get(v, d->name))
            add_section(&p, d, value_get(v, d->name));
}
