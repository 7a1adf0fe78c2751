/* SPDX-License-Identifier: MIT */
/* traits.c: what a plugin does and claims, in words for listings. */
#include "base/strbuf.h"
#include "plugin/registry.h"

static void add_word(struct strbuf *out, bool present, const char *word)
{
    if (!present)
        return;
    if (out->n)
        strbuf_add(out, ", ");
    strbuf_add(out, word);
}

static void add_scheme_hooks(const peat_scheme *s, struct strbuf *out)
{
    add_word(out, s->positions, "positions");
    add_word(out, s->prepare, "prepare");
    add_word(out, s->encode, "encode");
    add_word(out, s->residual, "residual");
    add_word(out, s->hidden, "hidden");
    add_word(out, s->qkv, "qkv");
    add_word(out, s->bias_rel, "bias_rel");
    add_word(out, s->bias, "bias");
    add_word(out, s->score_add, "score_add");
    add_word(out, s->logits, "logits");
    add_word(out, s->weights, "weights");
    add_word(out, s->context, "context");
}

void plugin_hooks(const peat_plugin *desc, struct strbuf *out)
{
    switch (desc->kind) {
    case PEAT_SCHEME:
        add_scheme_hooks(desc->interface, out);
        return;
    case PEAT_COMBINE:
        add_word(out, true, "merge");
        return;
    case PEAT_TASK:
        add_word(out, true, "train");
        add_word(out, true, "evaluate");
        return;
    }
}

void plugin_traits(const peat_plugin *desc, struct strbuf *out)
{
    if (desc->kind != PEAT_SCHEME)
        return;
    uint32_t traits = ((const peat_scheme *)desc->interface)->traits;
    add_word(out, traits & PEAT_SHIFT_INVARIANT, "shift-invariant");
    add_word(out, traits & PEAT_NORM_PRESERVING, "norm-preserving");
    add_word(out, traits & PEAT_FINITE_LENGTH, "finite-length");
    add_word(out, traits & PEAT_CONTENT_DEPENDENT, "content-dependent");
    add_word(out, traits & PEAT_NEEDS_CAUSAL, "needs-causal");
    add_word(out, traits & PEAT_PERMUTATION_EQUIVARIANT, "permutation-equivariant");
    add_word(out, traits & PEAT_NO_TRAINABLE, "no-trainable");
}
