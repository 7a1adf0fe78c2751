/* SPDX-License-Identifier: MIT */
/* check.c: the table of checks. */
#include "check/check.h"

#include <string.h>

#include "check/cases.h"

static const struct check table[] = {
    {"abi", "it loads, keeps the contract and exports peat_entry alone", true, true, true,
     check_abi},
    {"parameters", "defaults and bounds are legal, and what is beyond them is refused", true, true,
     true, check_parameters},
    {"finite", "logits are finite at every length, for every label and switch", true, true, false,
     check_finite},
    {"gradients", "every trained tensor agrees with central differences", true, true, false,
     check_gradients},
    {"widths", "streams of any width are merged or refused", false, true, false, check_widths},
    {"shift-invariant", "trait: moving all positions changes nothing", true, false, false,
     check_shift_invariant},
    {"norm-preserving", "trait: queries and keys keep their length", true, false, false,
     check_norm_preserving},
    {"permutation-equivariant", "trait: tokens in another order give logits in that order", true,
     false, false, check_permutation_equivariant},
    {"finite-length", "trait: sequences that are too long are refused", true, false, false,
     check_finite_length},
    {"no-trainable", "trait: it has no trained tensors", true, false, false, check_no_trainable},
    {"content-dependent", "trait: it has a hook that sees the tokens", true, false, false,
     check_content_dependent},
    {"needs-causal", "trait: an encoder is refused", true, false, false, check_needs_causal},
    {"storable", "trait: the newest rows alone give what they give among all", true, true, false,
     check_storable},
    {"across", "trait: across two sequences it goes by the positions of each", true, false, false,
     check_across},
    {"causality", "in a decoder no place depends on tokens after it", true, true, false,
     check_causality},
    {"prefix", "the logits of a prefix are those of the whole sequence", true, true, false,
     check_prefix},
    {"batch", "a row alone gives what it gives among others", true, true, false, check_batch},
    {"padding", "padding before or after a row changes nothing in it", true, true, false,
     check_padding},
    {"packing", "documents packed into a row do not see each other", true, true, false,
     check_packing},
    {"masked", "what replaces the softmax gives exactly 0 to what the mask hides", true, false,
     false, check_masked},
    {"paths", "fused and composed attention agree", true, false, false, check_paths},
    {"purity", "equal calls give equal bits, whatever happened between them", true, true, false,
     check_purity},
    {"threads", "1 to 4 threads give equal bits", true, true, false, check_threads},
    {"buffers", "nothing is written but results", true, true, false, check_buffers},
    {"batches", "ids are in range and depend on seed, step and row alone", false, false, true,
     check_batches},
    {"metrics", "metrics are finite, and better ones are better", false, false, true,
     check_metrics},
    {"leaks", "a step keeps no memory", true, true, true, check_leaks},
    {"environment", "rounding, locale, directory, signals, files and threads stay as they were",
     true, true, true, check_environment},
    {NULL, NULL, false, false, false, NULL},
};

const struct check *check_table(void)
{
    return table;
}

const struct check *check_find(const char *name)
{
    for (const struct check *c = table; c->name; c++)
        if (!strcmp(c->name, name))
            return c;
    return strcmp(name, check_cases.name) == 0 ? &check_cases : NULL;
}

bool check_is_for(const struct check *c, peat_kind kind)
{
    return kind == PEAT_SCHEME ? c->scheme : kind == PEAT_COMBINE ? c->combine : c->task;
}

enum verdict check_failed(struct strbuf *why, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    strbuf_addv(why, fmt, args);
    va_end(args);
    return CHECK_FAILED;
}

enum verdict check_skipped(struct strbuf *why, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    strbuf_addv(why, fmt, args);
    va_end(args);
    return CHECK_SKIPPED;
}
