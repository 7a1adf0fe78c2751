/* SPDX-License-Identifier: MIT */
/*
 * scheme.c: a scheme that changes nothing. Each crime spoils a field or a parameter row that the
 * loader reads. VERSION tells builds apart.
 */
#include <peat/plugin.h>

#ifndef VERSION
#define VERSION "1.0"
#endif

struct config {
    int64_t base;
};

#define ROW(key, offset, preset)                                                                   \
    {                                                                                              \
        key, PEAT_INT, offset, preset, 1, 9, NULL, NULL, NULL, "a number", 0                       \
    }

static const peat_param rows[] = {
#if defined(CRIME_preset_out_of_bounds)
    ROW("base", offsetof(struct config, base), 50),
#elif defined(CRIME_row_outside_config) /* behind its end */
    ROW("base", sizeof(struct config), 5),
#elif defined(CRIME_reserved_key)       /* belongs to the host */
    ROW("where", offsetof(struct config, base), 5),
#else
    ROW("base", offsetof(struct config, base), 5),
#endif
#ifdef CRIME_one_key_twice
    ROW("base", offsetof(struct config, base), 5),
#endif
    PEAT_PARAM_END,
};

#ifndef CRIME_carry_without_prepare
static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    (void)c, (void)shared;
    return PEAT_OK;
}
#endif

#ifndef CRIME_own_scale_without_qkv
static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    (void)c, (void)io;
    return PEAT_OK;
}
#endif

#if defined(CRIME_carry_without_prepare) || defined(CRIME_stored_carry)
static peat_status carry(const peat_call *c, peat_node *x, peat_node *W,
                         peat_node *state[PEAT_MAX_SHARED])
{
    (void)c, (void)x, (void)W, (void)state;
    return PEAT_OK;
}
#endif

#ifdef CRIME_width_without_encode
static int64_t width(const void *config)
{
    (void)config;
    return 4;
}
#endif

#ifdef CRIME_undefined_symbol /* calls into the engine by name, not through the host's table */
void *arena_alloc(void *arena, size_t bytes);

static peat_node *encode(const peat_call *c)
{
    return arena_alloc(c->g, 1);
}
#endif

static const peat_scheme scheme = {
#if defined(CRIME_other_size) /* built against a struct that ends earlier */
    .size = offsetof(peat_scheme, context),
#elif !defined(CRIME_no_size)
    .size = sizeof(scheme),
#endif
#if defined(CRIME_unknown_trait) /* nobody can check it */
    .traits = 0x8000,
#elif defined(CRIME_stored_carry)
    .traits = PEAT_STORABLE,
#else
    .traits = PEAT_SHIFT_INVARIANT | PEAT_NO_TRAINABLE,
#endif
#if defined(CRIME_unknown_need) /* this program has never heard of it */
    .needs = PEAT_NEED_X | 0x1000,
#elif defined(CRIME_weights_without_context)
    .needs = PEAT_NEED_W,
#elif defined(CRIME_too_many_axes)
    .max_axes = PEAT_MAX_AXES + 1,
#elif defined(CRIME_scale_with_terms) /* terms matter to a scale that is not fixed */
    .scale = PEAT_SCALE_ONE,
    .score_terms = 1,
#elif defined(CRIME_terms_without_score)
    .score_terms = 2,
#elif defined(CRIME_width_without_encode)
    .width = width,
#elif defined(CRIME_undefined_symbol)
    .encode = encode,
#elif defined(CRIME_own_scale_without_qkv)
    .scale = PEAT_SCALE_OWN,
#elif defined(CRIME_carry_without_prepare) || defined(CRIME_stored_carry)
    .carry = carry,
#endif
#ifndef CRIME_carry_without_prepare /* nothing would be carried */
    .prepare = prepare,
#endif
#ifndef CRIME_own_scale_without_qkv
    .qkv = qkv,
#endif
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "planted", VERSION, "changes nothing", "MIT",
            "")
