/* SPDX-License-Identifier: MIT */
/* diagnose.c: the list of diagnostics, and a function that runs all of them. */

#include "diagnose/diagnostics.h"

const struct diagnostic diagnostics[] = {
    {"logits", diagnose_logits, "Terms of the attention logits",
     "how much a head reacts to content, to position, and to both", true},
    {"sizes", diagnose_sizes, "Sizes of tokens and positions",
     "which of the two is larger at the input, and whether they point the same way", false},
    {"subspaces", diagnose_subspaces, "Subspaces of tokens and positions",
     "at 90 degrees a sum separates them as well as concatenation does", false},
    {"support", diagnose_support, "Which dimensions carry what",
     "an index of 1 means that the model has split its dimensions as concatenation does", false},
    {"collisions", diagnose_collisions, "Collisions",
     "whether a sum of token and position can be mistaken for another token elsewhere", false},
    {"probes", diagnose_probes, "Linear probes",
     "whether a linear map finds position and token in the stream, block by block", false},
    {"order", diagnose_order, "Order sensitivity",
     "how far the last output moves when the other tokens change places; 0: their order does not "
     "matter",
     false},
    {"attention", diagnose_attention, "Attention by distance",
     "where the heads look, and how much of their logits distance alone explains", true},
    {NULL, NULL, NULL, NULL, false},
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
