/* SPDX-License-Identifier: MIT */
/* table.h: a trained table that starts and enters like the tokens', for schemes that give rows. */
#ifndef SCHEME_TABLE_H
#define SCHEME_TABLE_H

#include <peat/plugin.h>

/* A member of the config. */
struct table_start {
    double init_std, scale;
};

/* Rows of the parameters for it. */
#define TABLE_ROWS(config_, member_)                                                               \
    {"init_std",                                                                                   \
     PEAT_REAL,                                                                                    \
     offsetof(config_, member_.init_std),                                                          \
     .min = 0,                                                                                     \
     .max = 1e3,                                                                                   \
     .automatic = "that of the token table",                                                       \
     .doc = "standard deviation of the initial vectors",                                           \
     .flags = PEAT_AUTO | PEAT_OPEN_MIN},                                                          \
    {                                                                                              \
        "scale", PEAT_REAL, offsetof(config_, member_.scale),                                      \
            .min = 0, .max = 1e6, .automatic = "model.embed_scale",                                \
            .doc = "fixed factor on every vector", .flags = PEAT_AUTO | PEAT_OPEN_MIN              \
    }

/* Registers "table" [n, width of the stream]. Returns the factor on what is looked up in it. */
static inline double table_setup(peat_setup *s, const struct table_start *k, int64_t n)
{
    peat_token_table tokens = peat_tokens(s);
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std > 0 ? k->init_std : tokens.std};
    double scale = k->scale > 0 ? k->scale : tokens.factor;
    peat_resolved(s, "init_std", init.b);
    peat_resolved(s, "scale", scale);
    peat_param_new(s, "table", 2, (int64_t[]){n, s->dims.d}, init, PEAT_ONCE, 0);
    return scale;
}

/* scale table[own position], of the first tensor of a scheme: [B, T, d]. */
static inline peat_node *table_at_own_positions(const peat_call *c, double scale)
{
    return peat_scale(c->g, peat_gather_rows(c->g, peat_use(c, 0), peat_pos_index(c, c->q, 0)),
                      scale);
}

#endif
