/* SPDX-License-Identifier: MIT */
/* diagnose.c: the list of diagnostics: what each computes, and how a page shows it. */

#include "diagnose/diagnostics.h"

struct page {
    struct strbuf *out;
    int width;
};

/* Adds the text (NULL: nothing), broken into lines at spaces, each indented by two. */
static void add_wrapped(const struct page *p, const char *text)
{
    int room = p->width - 2, at = 0;
    if (!text)
        return;
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

/* ---- lines by template ---- */

static const struct value *find(const struct value *v, const char *path)
{
    char key[64];
    const char *slash = strchr(path, '/');
    if (!slash)
        return value_get(v, path);
    snprintf(key, sizeof(key), "%.*s", (int)(slash - path), path);
    return find(value_get(v, key), slash + 1);
}

/* form: "10.3f" or "g" as of printf; "10.1%" prints a share in %; "-6<" the number before x. "-" is
 * printed for a number that is missing. */
static void add_number(struct strbuf *out, const char *form, double x)
{
    char text[64] = "-", kind = form[strlen(form) - 1], *end;
    int width = (int)strtol(form, &end, 10), digits = *end == '.' ? atoi(end + 1) : 0;
    x = kind == '%' ? 100 * x : kind == '<' ? x - 1 : x;
    if (!isnan(x))
        snprintf(text, sizeof(text),
                 kind == 'g'      ? "%.*g"
                 : form[0] == '+' ? "%+.*f"
                                  : "%.*f",
                 digits, x);
    strbuf_addf(out, "%*s", width, text);
}

/* The text with "{path form}" replaced by the number of v at the path. */
static void add_filled(struct strbuf *out, const char *text, const struct value *v)
{
    for (const char *at; (at = strchr(text, '{')); text = strchr(at, '}') + 1) {
        char path[64], form[16];
        strbuf_add_bytes(out, text, (size_t)(at - text));
        BUG_UNLESS(sscanf(at, "{%63[^ }] %15[^}]}", path, form) == 2);
        add_number(out, form, value_number(find(v, path)));
    }
    strbuf_add(out, text);
}

/* ---- lines without a template ---- */

/* The shares of the four terms, of all others except the bias, and of the bias. */
static void add_shares(struct strbuf *out, const struct value *share)
{
    static const char *const terms[] = {"token.token", "token.position", "position.token",
                                        "position.position", "bias"};
    double rest = 0.0;
    for (int i = 0; share && i < share->n; i++)
        rest += fmax(value_number(share->item[i]), 0.0); /* 0 for a missing number */
    for (int i = 0; i < 5; i++)
        rest -= fmax(json_get_number(share, terms[i]), 0.0);
    add_filled(out,
               "{token.token 10.1%}{token.position 10.1%}{position.token 10.1%}"
               "{position.position 10.1%}",
               share);
    add_number(out, "10.1%", rest < 1e-5 ? 0.0 : rest);
    add_filled(out, "{bias 8.1%}\n", share);
}

static void add_logits(const struct page *p, const struct value *v)
{
    const struct value *layers = value_get(v, "layers");
    for (int i = 0; layers && i < layers->n; i++) {
        const struct value *l = layers->item[i], *heads = value_get(l, "heads");
        for (int h = 0; i == 0 && heads && h < heads->n; h++) {
            add_filled(p->out, "  {layer 5f}", l);
            add_filled(p->out, "{head 7f}", heads->item[h]);
            add_shares(p->out, value_get(heads->item[h], "share"));
        }
        add_filled(p->out, "  {layer 5f}   mean", l);
        add_shares(p->out, value_get(l, "share"));
    }
    if (layers && layers->n > 1)
        add_wrapped(p, "Layer 0 is exact; deeper layers are attributed with norms, attention "
                       "weights and activations held fixed.");
}

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

static void add_nearest(const struct page *p, const struct value *v)
{
    const struct value *pairs = value_get(v, "pairs");
    for (int i = 0; pairs && i < pairs->n && i < 3; i++) {
        const struct value *c = pairs->item[i];
        strbuf_add(p->out, "  nearest: ");
        add_token(p->out, c, "token_a", "text_a", "position_a");
        strbuf_add(p->out, " and ");
        add_token(p->out, c, "token_b", "text_b", "position_b");
        add_filled(p->out, ", {distance .3g} of the mean distance\n", c);
    }
}

static void add_order(const struct page *p, const struct value *v)
{
    const struct value *layers = value_get(v, "layers");
    for (int i = 0; layers && i < layers->n; i++) {
        add_filled(p->out, "  after blocks {layer -3f}{change 12.3g}", layers->item[i]);
        strbuf_add(p->out,
                   json_get_bool(layers->item[i], "must_be_zero") ? "   (must be zero)\n" : "\n");
    }
}

/* Shares of the weight by distance, as many as fit on the page. */
enum { PROFILE_LEFT = 63, PROFILE_BIN = 7 };

static void add_profile_head(const struct page *p, const struct value *distances, int fit)
{
    strbuf_add(p->out, "  layer head entropy %max  dist  self first  by dist  bias   turn");
    for (int i = 0; i < fit; i++) {
        char text[48];
        int64_t first = distances->item[i]->item[0]->integer;
        int64_t last = distances->item[i]->item[1]->integer;
        int n = snprintf(text, sizeof(text), "%" PRId64, first);
        if (first != last)
            snprintf(text + n, sizeof(text) - (size_t)n, "-%" PRId64, last);
        strbuf_addf(p->out, "%*s", PROFILE_BIN, text);
    }
    strbuf_add(p->out, "\n");
}

static void add_bins(const struct page *p, const struct value *share, int fit)
{
    for (int i = 0; share && i < fit && i < share->n; i++)
        add_number(p->out, "7.1%", value_number(share->item[i]));
    strbuf_add(p->out, "\n");
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
        for (int h = 0; heads && h < heads->n; h++) {
            add_filled(p->out, "  {layer 5f}", layers->item[i]);
            add_filled(p->out,
                       "{head 5f}{entropy 8.2f}{entropy_share 5%}{mean_distance 6.1f}{self 6%}"
                       "{first 6%}{distance_share 9%}{bias_share 6%}{rotation_share 7%}",
                       heads->item[h]);
            add_bins(p, value_get(heads->item[h], "by_distance"), fit);
        }
    }
    if (!uniform || fit == 0)
        return;
    strbuf_addf(p->out, "  %-*s", PROFILE_LEFT - 2, "uniform attention");
    add_bins(p, uniform, fit);
}

/* ---- the list ---- */

#define SIZES "{token 10.3g}{position 10.3g}{ratio 10.3g}{cosine 10.3f}{cosine_size 10.3f}\n"

const struct diagnostic diagnostics[] = {
    {"logits", diagnose_logits, "Terms of the attention logits",
     "how much a head reacts to content, to position, and to both", true,
     "  % of the terms' variance, query.key\n"
     "  layer   head   tok.tok   tok.pos   pos.tok   pos.pos    others    bias\n",
     .add = add_logits},
    {"sizes", diagnose_sizes, "Sizes of tokens and positions",
     "which of the two is larger at the input, and whether they point the same way", false,
     "                       token  position     ratio    cosine  |cosine|\n", "start",
     "  before training " SIZES, "  now             " SIZES},
    {"subspaces", diagnose_subspaces, "Subspaces of tokens and positions",
     "at 90 degrees a sum separates them as well as concatenation does", false,
     "              rows   rank  effective\n"
     "  token    {token/rows 7f}{token/rank 7f}{token/effective 11.1f}\n"
     "  position {position/rows 7f}{position/rank 7f}{position/effective 11.1f}\n"
     "  sum      {sum/rows 7f}{sum/rank 7f}{sum/effective 11.1f}\n"
     "  angles in degrees: smallest{smallest 7.2f}, mean{mean 7.2f}; "
     "random: mean{random/mean 7.2f}\n"},
    {"support", diagnose_support, "Which dimensions carry what",
     "an index of 1 means that the model has split its dimensions as concatenation does", false,
     "  loss change (nats) without    dimensions     token  position\n", "blocks",
     "                            {begin 6f}-{end -6<}{token +9.4f}{position +10.4f}\n"},
    {"collisions", diagnose_collisions, "Collisions",
     "whether a sum of token and position can be mistaken for another token elsewhere", false,
     "  decoded right, %    noise     token  position      both\n", "decoded",
     "{noise 25.1f}{token 10.1%}{position 10.1%}{both 10.1%}\n", .add = add_nearest},
    {"probes", diagnose_probes, "Linear probes",
     "whether a linear map finds position and token in the stream, block by block", false,
     "  after blocks   position R2   position %   token %\n", "layers",
     "  {layer 12f}{position_r2 14.3f}{position_accuracy 13.1%}{token_accuracy 10.1%}\n",
     "        chance              {chance/position_accuracy 13.1%}{chance/token_accuracy 10.1%}\n"},
    {"order", diagnose_order, "Order sensitivity",
     "how far the last output moves when the other tokens change places; 0: their order does not "
     "matter",
     false, "", .add = add_order},
    {"attention", diagnose_attention, "Attention by distance",
     "where the heads look, and how much of their logits distance alone explains", true, "",
     .add = add_attention},
    {NULL},
};

void diagnose(struct subject *s, const char *const *only, int n_only, struct json v)
{
    const char *mixer = mixer_name((enum mixer)s->model->config.mixer);
    for (const struct diagnostic *d = diagnostics; d->name && subject_is_well(s); d++) {
        if (n_only > 0 && texts_find(only, n_only, d->name) < 0)
            continue;
        struct json own = json_put_map(v, d->name);
        if (mixer && d->of_attention) {
            json_put_text(own, "skipped",
                          arena_printf(v.a, "the model has no attention (model.mixer: %s)", mixer));
            continue;
        }
        d->run(s, own);
        if (!subject_is_well(s))
            error_prefix(&s->err, "%s", d->name);
    }
}

/* ---- the page ---- */

static void add_numbers(const struct page *p, const struct diagnostic *d, const struct value *v)
{
    const struct value *list = d->list ? value_get(v, d->list) : NULL;
    add_filled(p->out, d->text, v);
    if (list && list->kind == VALUE_MAP)
        add_filled(p->out, d->each, list);
    for (int i = 0; list && list->kind == VALUE_LIST && i < list->n; i++)
        add_filled(p->out, d->each, list->item[i]);
    if (d->end)
        add_filled(p->out, d->end, v);
    if (d->add)
        d->add(p, v);
}

static void add_head(const struct page *p, const struct value *v)
{
    const struct value *notes = value_get(v, "notes");
    const int64_t layers = json_get_int(v, "layers", 0), heads = json_get_int(v, "heads", 0);
    strbuf_addf(p->out,
                "%s: %s, %s; %s of %" PRId64 " layer%s, %" PRId64 " head%s, width %" PRId64 "\n",
                json_get_text(v, "label"), json_get_text(v, "scheme"), json_get_text(v, "combine"),
                json_get_bool(v, "causal") ? "decoder" : "encoder", layers, plural(layers), heads,
                plural(heads), json_get_int(v, "width", 0));
    add_filled(p->out,
               "step {step f}; {windows f} windows of {length f} tokens, loss {loss .4f} nats\n",
               v);
    for (int i = 0; notes && i < notes->n; i++)
        strbuf_addf(p->out, "note: %s\n", notes->item[i]->text);
}

static void add_section(const struct page *p, const struct diagnostic *d, const struct value *v)
{
    const char *skipped = json_get_text(v, "skipped"), *summary = json_get_text(v, "summary");
    strbuf_addf(p->out, "\n%s (%s)\n", d->title, d->name);
    add_wrapped(p, d->meaning);
    if (skipped) {
        strbuf_addf(p->out, "  none: %s\n", skipped);
        return;
    }
    add_wrapped(p, summary);
    add_numbers(p, d, v);
    add_wrapped(p, json_get_text(v, "left_out"));
    add_wrapped(p, json_get_text(v, "stopped"));
}

void diagnosis_page(const struct value *v, int width, struct strbuf *out)
{
    const struct page p = {out, width};
    add_head(&p, v);
    for (const struct diagnostic *d = diagnostics; d->name; d++)
        if (value_get(v, d->name))
            add_section(&p, d, value_get(v, d->name));
}
