/* SPDX-License-Identifier: MIT */
/*
 * positional.h: the schemes and the combination of a model, as the model sees them: hooks, without
 * the loaded plugin.
 *
 * A positional is the schemes of one cell in YAML order and the combination that joins their
 * streams to the tokens. Hooks are the SDK's own structs (peat/scheme.h, peat/combine.h), so a test
 * can write one in a few lines. model_build sets a positional up; all rooms above may read it.
 */
#pragma once

#include "nn/hooks.h"
#include "nn/part.h"

#define POSITIONAL_MAX 8 /* schemes in one cell */
/* Streams at the input: of tokens, schemes, segments and the task. */
#define POSITIONAL_STREAMS (POSITIONAL_MAX + 2 + PEAT_MAX_STREAMS)

struct scheme_part {
    struct part part;
    const peat_scheme *hooks;
    struct where where;
    int64_t d; /* width of its stream; 0: no encode */
};

struct positional {
    const peat_host *host;
    struct trail *trail; /* where the hooks that run are recorded; NULL: nowhere */
    int n_scheme;
    struct scheme_part scheme[POSITIONAL_MAX];
    struct part combine_part;
    const peat_combine *combine;
    int64_t undeclared_T; /* T_total that a hook gets without PEAT_NEED_LENGTH; not 0 only in
                           * checks */
    /* set by model_build */
    peat_token_table tokens;
    const char *mixer; /* name of the mixer that replaces attention; NULL: attention */
    int n_more;        /* streams of the task's own                */
    const char *more[PEAT_MAX_STREAMS];
    /* set by positional_setup */
    const struct part *failing; /* the part whose set-up failed; NULL: none */
    int n_stream;               /* number of streams at the input: token, positions, segment, and
                                 * the task's */
    const char *stream[POSITIONAL_STREAMS];
    int64_t width[POSITIONAL_STREAMS];
    int64_t D;
};

/* Asks the schemes for widths, then runs the combine's setup, then each scheme's. dims has D =
 * d_model on entry and the final D afterwards. C is dims->D / dims->H, which must divide. */
peat_status positional_setup(struct positional *p, struct weights *w, peat_dims *dims,
                             int64_t n_segment, struct error *err);
/* True if some scheme gives a stream that is merged at the input. */
bool positional_at_input(const struct positional *p);
/* The number of rows before a row that the scheme's residual and hidden hooks read. */
int64_t scheme_reach(const struct scheme_part *s);
/* The number of head dimensions, of C, that the scheme sees. */
int64_t positional_width(const struct scheme_part *s, int64_t C);
/* "model/rotary: qkv at layers 0-3, all heads; alibi: bias_rel ..." one line per scheme. */
void positional_describe(const struct positional *p, int64_t L, int64_t H, struct strbuf *out);
