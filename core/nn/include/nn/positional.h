/* SPDX-License-Identifier: MIT */
/*
 * positional.h: what the model knows of positions: hooks, never a loaded plugin.
 *
 * A positional is the schemes of one cell in YAML order and the combination that joins their
 * streams to the tokens. Hooks are the SDK's own structs (peat/scheme.h, peat/combine.h), so a test
 * can write one in a few lines. Each hook has one caller: encode and merge in model/input.c,
 * residual in model/block.c, positions and prepare in model/transformer.c, all others in
 * nn/attention.c.
 */
#ifndef NN_POSITIONAL_H
#define NN_POSITIONAL_H

#include <peat/combine.h>
#include <peat/host.h>

#include "base/value.h"
#include "nn/weights.h"

#define POSITIONAL_MAX 8 /* schemes in one cell */

/* Where a scheme's stream enters. */
enum site { SITE_INPUT, SITE_RESIDUAL, SITE_ATTN_Q, SITE_ATTN_K, SITE_ATTN_QK, SITE_ATTN_QKV };

/* Which layers, heads and head dimensions a scheme touches: the host's doing alone. */
struct where {
    int64_t n_layer; /* 0: all                            */
    const int64_t *layer;
    int64_t head_begin, head_end; /* end 0: all            */
    int64_t dim_begin, dim_end;   /* end 0: all; qkv only   */
    enum site at;
    peat_scope share; /* for PEAT_PER_USER: PEAT_ONCE or PEAT_PER_LAYER */
};

/* One tensor that setup asked for: one weight, or one per layer it acts on. */
struct scheme_weight {
    const char *name;
    peat_scope scope;
    struct weight **layer; /* [1] or [L]; NULL where the scheme does not act */
};

/* Rows of a row function at positions 0 .. n-1, computed once. */
struct row_table {
    peat_row_fn row;
    int64_t d, n;
    double *value; /* [n, d] */
    struct row_table *next;
};

/* A plugin's part in the model; shared by schemes and the combine. */
struct part {
    const char *id;     /* "rotary"                                                       */
    const char *prefix; /* of its weights' names: "position.0.rotary", "combine.sum"      */
    const void *config;
    void *self;
    int n_weight;
    struct scheme_weight weight[32];
    bool per_head;  /* some tensor has PEAT_HEADS in its shape                      */
    bool per_layer; /* some tensor has one copy per layer                           */
    struct row_table *rows;
    struct value *resolved; /* map of what peat_resolved said; NULL: nothing               */
};

struct scheme_part {
    struct part part;
    const peat_scheme *hooks;
    struct where where;
    int64_t d; /* width of its stream; 0: no encode */
};

struct positional {
    const peat_host *host;
    struct trail *trail; /* where its hooks are noted; NULL: nowhere */
    int n_scheme;
    struct scheme_part scheme[POSITIONAL_MAX];
    struct part combine_part;
    const peat_combine *combine;
    /* set by positional_setup */
    const struct part *failing; /* whose set-up failed; NULL: none */
    int n_stream;               /* at the input: token, positions, segment              */
    const char *stream[POSITIONAL_MAX + 2];
    int64_t width[POSITIONAL_MAX + 2];
    int64_t D;
};

/* What a plugin's setup gets; base is what it sees. */
struct setup {
    peat_setup base;
    struct arena *arena;     /* model */
    struct weights *weights; /* NULL for tasks */
    struct part *part;
    const struct where *where; /* NULL for combines and tasks */
    int64_t heads;             /* what PEAT_HEADS stands for */
    peat_status status;        /* of the first failure of a service */
    struct error *err;
};

/* Prepares a setup for one plugin. */
void setup_init(struct setup *s, const peat_host *host, struct arena *arena,
                struct weights *weights, struct part *part, const peat_dims *dims,
                struct error *err);
/* The verdict after the plugin's setup returned `status`: a service's failure wins, and a plugin
 * that failed without a word gets one. */
peat_status setup_end(const struct setup *s, peat_status status);

/* Widths first, then the schemes: the combine's setup, then each scheme's. dims has D = d_model on
 * entry and the final D afterwards. C is dims->D / dims->H, which must divide. */
peat_status positional_setup(struct positional *p, struct weights *w, peat_dims *dims,
                             int64_t n_segment, struct error *err);
bool positional_acts(const struct scheme_part *s, int64_t layer);
/* Head dimensions that the scheme sees of C. */
int64_t positional_width(const struct scheme_part *s, int64_t C);
/* True when some scheme gives a stream at the input or a segment stream is there. */
bool positional_has_stream(const struct positional *p);
/* "model/rotary: qkv at layers 0-3, all heads; alibi: bias_rel ..." one line per scheme. */
void positional_describe(const struct positional *p, int64_t L, int64_t H, struct strbuf *out);

/* What a scheme adds to the logits of its heads. */
struct bias_terms {
    bool done;
    peat_node *score_add, *bias; /* [1|B, 1|H, 1|Tq, 1|Tk]          */
    peat_node *rel;              /* [1|H, Tq+Tk-1], by j - i + Tq - 1 */
};

struct differences;
struct pass;

enum stream_kind { STREAM_TOKEN, STREAM_POSITION, STREAM_SEGMENT };

/* What the attention of one head group came to. Nodes die with the graph. */
struct attention_seen {
    int64_t layer, begin, end;   /* heads [begin, end)                                        */
    peat_qkv projected, chain;   /* [B,H,T,C] of the group: as projected, as qkv hooks left them */
    peat_node *score_add, *bias; /* [1|B,1|H,1|T,1|T] or NULL; bias has bias_rel in it        */
    double scale;
    peat_node *logits;      /* [B,H,T,T] not yet masked, as the logits hooks left them        */
    peat_node *weights;     /* [B,H,T,T] as the weights hooks left them                       */
    const char *changed_by; /* the scheme whose logits or weights hook had a say; NULL: none */
};

/* Who watches a forward pass, for diagnosis. Each function may be NULL. The first two may return
 * another node of the same shape in the place of the one that they are shown. */
struct observer {
    void *ctx;
    bool chain_only; /* seen.logits and seen.weights are not wanted and stay NULL */
    /* Every stream before it is merged; scheme: whose, for positions. */
    peat_node *(*stream)(void *ctx, struct pass *pass, enum stream_kind kind, int scheme,
                         peat_node *x);
    /* The merged input [B,T,D]. */
    peat_node *(*input)(void *ctx, struct pass *pass, peat_node *x);
    /* What block `layer` works on, after the residual hooks; layer L: what the last norm takes. */
    void (*residual)(void *ctx, int64_t layer, peat_node *x);
    void (*attention)(void *ctx, const struct attention_seen *seen);
};

/* Everything one forward pass knows; hooks see parts of it through peat_call. */
struct pass {
    struct graph *g;
    struct positional *positional;
    peat_dims dims;
    peat_phase phase;
    int64_t B, step;
    uint64_t seed;
    struct arena *model_arena; /* for tables kept over steps */
    peat_side side;            /* queries and keys are the same: self-attention */
    peat_node *shared[POSITIONAL_MAX][PEAT_MAX_SHARED];
    peat_node *stream[POSITIONAL_MAX]; /* of schemes that enter elsewhere than at the input */
    /* Merges scheme `index`'s stream into x: model/input.c, the only caller of merge. */
    peat_node *(*merge)(struct pass *pass, int index, peat_node *x);
    struct bias_terms cache[POSITIONAL_MAX]; /* of schemes that give the same in every layer */
    struct differences *differences;         /* made when a bias_rel asks                    */
    const struct attention_mask *mask;
    peat_node *mask_node; /* made when a hook asks                                          */
    peat_node *input, *position_input; /* the token stream and the first position stream      */
    bool composed; /* some group took the composed path                              */
    bool collect;  /* keep probes, for inspection                                    */
    int n_probe;
    peat_node *probe[64];
    const struct observer *observer; /* NULL: nobody watches */
};

struct attention_weights;

/* A call as the engine sees it; base is what the hook sees. */
struct call {
    peat_call base;
    struct pass *pass;
    struct part *part;
    peat_side own; /* what the plugin sees of the pass's side: nothing that it did not declare */
    const struct attention_weights *attention; /* for project; NULL outside attention */
    int64_t head_begin;
};

/* The graph's error message names the hook that runs: "rotary.qkv". */
void hook_begin(struct pass *pass, const char *id, const char *hook);
/* Ends a hook. The result must have the given shape, where an `either` bit allows 1 as well;
 * otherwise, or when there is none, the graph fails. Returns node. */
peat_node *hook_end(struct pass *pass, peat_node *node, int rank, const int64_t *dim,
                    uint32_t either);
/* Ends a hook that answered with a status; false when it failed. */
bool hook_status(struct pass *pass, peat_status status);

/* Fills a call for scheme `index`, or for the combine when index is -1. A call points into itself:
 * it is never copied. */
void call_init(struct call *c, struct pass *pass, int index, int64_t layer);

/* The services behind peat_host; the table itself is host.c. */
int32_t service_param(peat_setup *s, const char *name, int32_t rank, const int64_t *dim,
                      peat_init init, peat_scope scope, uint32_t use);
void service_bound(peat_setup *s, int32_t handle, double lo, double hi);
peat_status service_refuse(peat_setup *s, const char *fmt, ...);
void *service_alloc(peat_setup *s, size_t bytes);
void service_resolved(peat_setup *s, const char *key, double value);
const unsigned char *service_read_file(peat_setup *s, const char *path, int64_t *bytes);
peat_node *service_use(const peat_call *c, int32_t handle);
peat_node *service_project(const peat_call *c, peat_node *x, int32_t which);
double *service_scratch(const peat_call *c, int64_t n);
peat_node *service_fill(const peat_call *c, int32_t rank, const int64_t *dim, const double *value);
peat_node *service_fill_index(const peat_call *c, int32_t rank, const int64_t *dim,
                              const double *value);
peat_node *service_rows(const peat_call *c, const peat_side *side, int64_t d, peat_row_fn row);
peat_node *service_pos(const peat_call *c, const peat_side *side, int32_t axis);
peat_node *service_delta(const peat_call *c, int32_t axis);
peat_node *service_random(const peat_call *c, const char *name, int32_t rank, const int64_t *dim);
void service_random_row(const peat_call *c, const char *name, int64_t b, int64_t n, double *out);
void service_probe(const peat_call *c, const char *name, peat_node *n);

/* host.c: the engine's table for plugins; it lives as long as the process. */
const peat_host *host_table(void);

#endif
