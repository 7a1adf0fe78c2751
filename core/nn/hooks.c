/* SPDX-License-Identifier: MIT */
/* hooks.c: the table of hooks. */
#include "nn/hooks.h"

#define SCHEME(field)  #field, PEAT_SCHEME, offsetof(peat_scheme, field)
#define COMBINE(field) #field, PEAT_COMBINE, offsetof(peat_combine, field)
#define TASK(field)    #field, PEAT_TASK, offsetof(peat_task, field)
#define NEED(bit)      .need = (bit), .need_name = #bit

static const struct hook table[] = {
    [HOOK_WIDTH] = {SCHEME(width), ACTS_AT_SETUP},
    [HOOK_SETUP] = {SCHEME(setup), ACTS_AT_SETUP},
    [HOOK_POSITIONS] = {SCHEME(positions), ACTS_ON_POSITIONS},
    [HOOK_OWN_POSITIONS] = {SCHEME(own_positions), ACTS_BEFORE},
    [HOOK_PREPARE] = {SCHEME(prepare), ACTS_BEFORE},
    [HOOK_ENCODE] = {SCHEME(encode), ACTS_ON_INPUT},
    [HOOK_RESIDUAL] = {SCHEME(residual), ACTS_ON_RESIDUAL},
    [HOOK_HIDDEN] = {SCHEME(hidden), ACTS_ON_HIDDEN},
    [HOOK_QKV] = {SCHEME(qkv), ACTS_ON_QKV},
    [HOOK_BIAS_REL] = {SCHEME(bias_rel), ACTS_ON_TERMS},
    [HOOK_BIAS] = {SCHEME(bias), ACTS_ON_TERMS},
    [HOOK_SCORE_ADD] = {SCHEME(score_add), ACTS_ON_TERMS},
    [HOOK_LOGITS] = {SCHEME(logits), ACTS_ON_SCORES, NEED(PEAT_NEED_BIAS)},
    [HOOK_SOFTMAX] = {SCHEME(softmax), ACTS_ON_SCORES, NEED(PEAT_NEED_BIAS)},
    [HOOK_WEIGHTS] = {SCHEME(weights), ACTS_ON_SCORES},
    [HOOK_CONTEXT] = {SCHEME(context), ACTS_ON_CONTEXT, NEED(PEAT_NEED_W)},
    [HOOK_CARRY] = {SCHEME(carry), ACTS_ON_STATE, NEED(PEAT_NEED_W)},
    [HOOK_COMBINE_SETUP] = {COMBINE(setup), ACTS_AT_SETUP, .required = true},
    [HOOK_MERGE] = {COMBINE(merge), ACTS_ON_INPUT, .required = true},
    [HOOK_TASK_SETUP] = {TASK(setup), ACTS_AT_SETUP, .required = true},
    [HOOK_TRAIN] = {TASK(train), ACTS_ON_DATA, .required = true},
    [HOOK_EVALUATE] = {TASK(evaluate), ACTS_ON_DATA, .required = true},
    [HOOK_TOKEN_TEXT] = {TASK(token_text), ACTS_ON_DATA},
    [HOOK_TEST] = {TASK(test), ACTS_ON_DATA},
    {.name = NULL},
};

const struct hook *hook_table(void)
{
    return table;
}

const char *hook_name(enum hook_id id)
{
    return table[id].name;
}

bool hook_is_in(const struct hook *hook, const void *interface)
{
    void (*function)(void);
    memcpy(&function, (const char *)interface + hook->offset, sizeof(function));
    return function != NULL;
}

bool scheme_has(const peat_scheme *s, enum hook_id id)
{
    return hook_is_in(&table[id], s);
}

/* The first hook from `h` on that an interface has in these places; NULL: it has no such hook. */
static const struct hook *next_hook(const struct hook *h, peat_kind kind, const void *interface,
                                    uint32_t places)
{
    for (; h->name; h++)
        if (h->kind == kind && h->place & places && hook_is_in(h, interface))
            return h;
    return NULL;
}

bool scheme_acts_on(const peat_scheme *s, uint32_t places)
{
    return next_hook(table, PEAT_SCHEME, s, places) != NULL;
}

const char *scheme_needs_composed(const peat_scheme *s)
{
    const struct hook *scores = next_hook(table, PEAT_SCHEME, s, ACTS_ON_SCORES);
    if (scores)
        return scores->name;
    if (!(s->needs & PEAT_NEED_W))
        return NULL;
    return s->context ? "context with the attention weights"
           : s->carry ? "carry with the attention weights"
                      : NULL;
}

/* Whether this hook gets arguments for the need. */
static bool hands_over(const struct hook *h, uint32_t need)
{
    switch (need) {
    case PEAT_NEED_TOKENS:
        return h->place & (ACTS_BEFORE | ACTS_ON_MODEL);
    case PEAT_NEED_X:
        return h->place & ACTS_ON_HEADS;
    case PEAT_NEED_QK:
        return h->place & (ACTS_ON_TERMS | ACTS_ON_SCORES | ACTS_ON_CONTEXT);
    default:
        return h->need == need;
    }
}

void hook_missing(enum hook_id id, uint32_t needs, bool tokens, char text[HOOK_MISSING])
{
    static const struct {
        uint32_t need;
        const char *text;
    } given[] = {{PEAT_NEED_TOKENS, "PEAT_NEED_TOKENS (token)"},
                 {PEAT_NEED_X, "PEAT_NEED_X (x_q, x_k)"},
                 {PEAT_NEED_QK, "PEAT_NEED_QK (q, k, v)"},
                 {PEAT_NEED_W, "PEAT_NEED_W (W)"},
                 {PEAT_NEED_BIAS, "PEAT_NEED_BIAS (bias)"}};
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = tokens ? 0 : 1; i < sizeof(given) / sizeof(*given); i++)
        if (!(needs & given[i].need) && hands_over(&table[id], given[i].need) && n < HOOK_MISSING)
            n += (size_t)snprintf(text + n, HOOK_MISSING - n, "%s%s", n ? " or " : "",
                                  given[i].text);
}

int hooks_list(peat_kind kind, const void *interface, uint32_t places, struct strbuf *out)
{
    int n = 0;
    const struct hook *h = table;
    for (; (h = next_hook(h, kind, interface, places)); h++)
        strbuf_addf(out, "%s%s", n++ > 0 ? ", " : "", h->name);
    return n;
}

void hook_enter(struct trail *trail, const char *id, enum hook_id hook)
{
    char text[TRAIL_TEXT];
    snprintf(text, sizeof(text), "%s.%s", id, hook_name(hook));
    trail_enter(trail, text);
}
