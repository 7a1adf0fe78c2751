/* SPDX-License-Identifier: MIT */
/* traits.c: the kind, the hooks and the traits of a plugin in words. */
#include "nn/hooks.h"
#include "plugin/registry.h"

const char *kind_name(peat_kind kind)
{
    switch (kind) {
    case PEAT_SCHEME:
        return "scheme";
    case PEAT_COMBINE:
        return "combine";
    case PEAT_TASK:
        return "task";
    }
    return "unknown kind";
}

const char *plugin_hooks(const peat_plugin *desc, struct arena *a)
{
    struct strbuf out = STRBUF_NEW;
    hooks_list(desc->kind, desc->interface, ~(uint32_t)ACTS_AT_SETUP, &out);
    return strbuf_keep(&out, a);
}

const char *plugin_traits(const peat_plugin *desc, struct arena *a)
{
    static const struct {
        peat_trait bit;
        const char *word;
    } trait[] = {
        {PEAT_SHIFT_INVARIANT, "shift-invariant"},
        {PEAT_NORM_PRESERVING, "norm-preserving"},
        {PEAT_FINITE_LENGTH, "finite-length"},
        {PEAT_CONTENT_DEPENDENT, "content-dependent"},
        {PEAT_NEEDS_CAUSAL, "needs-causal"},
        {PEAT_PERMUTATION_EQUIVARIANT, "permutation-equivariant"},
        {PEAT_NO_TRAINABLE, "no-trainable"},
        {PEAT_ACROSS, "across"},
        {PEAT_STORABLE, "storable"},
    };
    const char *text = "";
    if (desc->kind == PEAT_TASK)
        return text;
    uint32_t traits = desc->kind == PEAT_SCHEME ? ((const peat_scheme *)desc->interface)->traits
                                                : ((const peat_combine *)desc->interface)->traits;
    for (size_t i = 0; i < sizeof(trait) / sizeof(*trait); i++)
        if (traits & trait[i].bit)
            text = arena_item(a, text, "%s", trait[i].word);
    return text;
}
