/* SPDX-License-Identifier: MIT */
/*
 * hooks.h: a table with one row for every function of the SDK's interfaces: its name, its place in
 * the interface, the place where it acts in the model, and the need that belongs to it.
 *
 * Listings, the contract, diagnoses, checks and the trail read this table; all rooms above may. A
 * new hook needs a field of the SDK's struct, a row in hooks.c and one caller.
 */
#pragma once

#include <peat/plugin.h>

#include "process/trail.h"

/* Where a hook acts. Bits, to ask for several places at once. */
enum place_of_action {
    ACTS_AT_SETUP = 1,
    ACTS_ON_DATA = 2,       /* batches of a task                                      */
    ACTS_BEFORE = 4,        /* makes things that other hooks of the scheme use        */
    ACTS_ON_POSITIONS = 8,  /* once per forward pass                                  */
    ACTS_ON_INPUT = 16,     /* a stream, or the merging of streams                    */
    ACTS_ON_RESIDUAL = 32,  /* [B,T,D] at the start of a block                        */
    ACTS_ON_HIDDEN = 64,    /* inputs [B,T,D] of queries, keys and values             */
    ACTS_ON_QKV = 128,      /* queries, keys and values of a head group               */
    ACTS_ON_TERMS = 256,    /* terms that are added to the logits of a head group    */
    ACTS_ON_SCORES = 512,   /* logits or weights of a head group, which the fused path lacks */
    ACTS_ON_CONTEXT = 1024, /* the output of a head group's attention                 */
    ACTS_ON_STATE = 2048,   /* nodes that go from layer to layer                      */

    ACTS_ON_HEADS = ACTS_ON_QKV | ACTS_ON_TERMS | ACTS_ON_SCORES | ACTS_ON_CONTEXT,
    ACTS_IN_LAYERS = ACTS_ON_RESIDUAL | ACTS_ON_HIDDEN | ACTS_ON_HEADS | ACTS_ON_STATE,
    ACTS_ON_MODEL = ACTS_ON_POSITIONS | ACTS_ON_INPUT | ACTS_IN_LAYERS,
};

/* Numbers of the rows, in order. */
enum hook_id {
    HOOK_WIDTH,
    HOOK_SETUP,
    HOOK_POSITIONS,
    HOOK_OWN_POSITIONS,
    HOOK_PREPARE,
    HOOK_ENCODE,
    HOOK_RESIDUAL,
    HOOK_HIDDEN,
    HOOK_QKV,
    HOOK_BIAS_REL,
    HOOK_BIAS,
    HOOK_SCORE_ADD,
    HOOK_LOGITS,
    HOOK_SOFTMAX,
    HOOK_WEIGHTS,
    HOOK_CONTEXT,
    HOOK_CARRY,
    HOOK_COMBINE_SETUP,
    HOOK_MERGE,
    HOOK_TASK_SETUP,
    HOOK_TRAIN,
    HOOK_EVALUATE,
    HOOK_TOKEN_TEXT,
    HOOK_TEST,
};

struct hook {
    const char *name;
    peat_kind kind; /* kind of the plugins whose interface has the hook      */
    size_t offset;  /* offset of the function in that interface              */
    uint32_t place; /* bits of enum place_of_action; a task's hooks act on data */
    bool required;
    uint32_t need; /* the PEAT_NEED_ bit that this hook requires; 0: none */
    const char *need_name;
};

/* All rows, ended by a NULL name. */
const struct hook *hook_table(void);
const char *hook_name(enum hook_id id);
/* `interface` is one of the hook's kind. */
bool hook_is_in(const struct hook *hook, const void *interface);
bool scheme_has(const peat_scheme *s, enum hook_id id);
/* Whether some hook acts in one of these places. */
bool scheme_acts_on(const peat_scheme *s, uint32_t places);
/* The hook that needs the composed path of attention ("logits"), or NULL. */
const char *scheme_needs_composed(const peat_scheme *s);
/* Adds the names of the hooks that an interface has in these places, separated by commas; returns
 * their number. */
int hooks_list(peat_kind kind, const void *interface, uint32_t places, struct strbuf *out);
/* The arguments that are NULL in this hook because its plugin did not declare the need, as
 * "PEAT_NEED_X (x_q, x_k)"; "": no argument is. tokens: include token ids. Allocates nothing,
 * because it runs at every call of a hook. */
enum { HOOK_MISSING = 160 };
void hook_missing(enum hook_id id, uint32_t needs, bool tokens, char text[HOOK_MISSING]);
/* Records in the trail, which may be NULL, that a hook of plugin `id` runs: "rotary.qkv". */
void hook_enter(struct trail *trail, const char *id, enum hook_id hook);
