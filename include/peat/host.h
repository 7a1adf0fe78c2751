/* SPDX-License-Identifier: MIT */
/*
 * host.h: the services of the engine besides operations. Append-only; each function is tagged with
 * its phase. Plugins call the wrappers at the end, which have the same arguments.
 *
 * Strings, shapes and arrays that a plugin passes are read during the call alone. Every node, and
 * all memory that a function returns, belongs to the host. A function that returns a node returns
 * NULL after an error, which the graph keeps (ops.h).
 */
#ifndef PEAT_HOST_H
#define PEAT_HOST_H

#include <peat/ops.h>
#include <peat/param.h>
#include <peat/scheme.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In a shape: the number of heads in the group the scheme acts on. */
#define PEAT_HEADS INT64_C(-1)

typedef enum peat_init_kind {
    PEAT_INIT_ZERO = 0,
    PEAT_INIT_CONSTANT = 1, /* a in every element        */
    PEAT_INIT_NORMAL = 2,   /* mean a, standard deviation b */
    PEAT_INIT_UNIFORM = 3,  /* in [a, b)                 */
    PEAT_INIT_EYE = 4,      /* a times the identity, last two axes */
    PEAT_INIT_VALUES = 5    /* copied from values        */
} peat_init_kind;

typedef struct peat_init {
    peat_init_kind kind;
    double a, b;
    const double *values; /* VALUES: one per element of the shape (PEAT_HEADS expanded) */
} peat_init;

/* Scope of a tensor. ONCE: the model has one. PER_LAYER: each layer in which the scheme acts has
 * its own; not for a combination. PER_USER: the YAML key `share` chooses between the two. */
typedef enum peat_scope { PEAT_ONCE = 0, PEAT_PER_LAYER = 1, PEAT_PER_USER = 2 } peat_scope;

/* FROZEN: not trained. NO_DECAY: without the weight decay of tensors of two axes or more. */
typedef enum peat_param_use { PEAT_FROZEN = 1, PEAT_NO_DECAY = 2 } peat_param_use;

/* row(config, pos, out, d): writes the d values of one position into out [d]; pos [n_axes] has a
 * coordinate for each axis. Pure. */
typedef void (*peat_row_fn)(const void *config, const double *pos, double *out, int64_t d);

/* The initial values and the scale of the token table: its rows are normal with mean 0 and standard
 * deviation std, and each row that is looked up is multiplied by factor (model.embed_scale). Under
 * an optimiser that normalises its steps a factor acts as a learning rate: a table that is to learn
 * at the tokens' rate needs both numbers. */
typedef struct peat_token_table {
    uint32_t size;
    double std, factor;
} peat_token_table;

/* The set-up of a plugin. */
struct peat_setup {
    uint32_t size;
    const peat_host *host;
    peat_dims dims; /* sizes of the model; all 0 for a task */
    /* The rest belongs to the engine. */
};

struct peat_host {
    uint32_t size;
    uint32_t abi_major, abi_minor;

    /* [setup] Registers a tensor of shape dim [rank], where PEAT_HEADS means the number of heads;
     * use: peat_param_use bits. Returns a handle: 0, 1, 2, ... in the order of the calls; -1 after
     * a mistake in the arguments or more than 32 tensors, which ends the set-up with an error. The
     * host owns the tensor, initialises it from its own stream of draws, saves, decays and updates
     * it. Not for tasks. */
    int32_t (*param)(peat_setup *s, const char *name, int32_t rank, const int64_t *dim,
                     peat_init init, peat_scope scope, uint32_t use);
    /* [setup] Clamps the tensor of this handle to [lo, hi] after each update. */
    void (*bound)(peat_setup *s, int32_t handle, double lo, double hi);
    /* [setup] Refuses this configuration with a reason for the user; returns PEAT_REFUSED. */
    peat_status (*refuse)(peat_setup *s, const char *fmt, ...);
    /* [setup] Zeroed memory that lives as long as the model; NULL when memory runs out (then return
     * PEAT_NOMEM). */
    void *(*alloc)(peat_setup *s, size_t bytes);
    /* [setup] Records with the results the value that the plugin chose for an automatic parameter.
     */
    void (*resolved)(peat_setup *s, const char *key, double value);
    /* [setup] The content of a file that a parameter with PEAT_PATH names; *bytes is its size.
     * Borrowed until the model dies; NULL on error, already reported: also for any other path,
     * since a cell is known by the hashes of the files that its parameters name. */
    const unsigned char *(*read_file)(peat_setup *s, const char *path, int64_t *bytes);

    /* [graph] The tensor of a handle, as a node of this graph; in a layer, that layer's. Outside
     * the layers (c->layer is -1) a tensor of PER_LAYER is an error. */
    peat_node *(*use)(const peat_call *c, int32_t handle);
    /* [graph] x [1|B,n,D] through this layer's projection (0 = Q, 1 = K, 2 = V), bias included
     * -> [1|B,H,n,C] for the heads of the group. NEED_PROJECT. */
    peat_node *(*project)(const peat_call *c, peat_node *x, int32_t which);
    /* [graph] Memory for n doubles that lives as long as the graph, to be written before it is
     * read; NULL when memory runs out (fill given NULL returns NULL). */
    double *(*scratch)(const peat_call *c, int64_t n);
    /* [graph] A constant of shape dim [rank] and of the graph's dtype, F32 or F64. value: its
     * elements in row-major order, copied, doubles for either dtype. */
    peat_node *(*fill)(const peat_call *c, int32_t rank, const int64_t *dim, const double *value);
    /* [graph] As `fill`, with dtype I32, for gather_rows and take_last; values must be whole
     * numbers. */
    peat_node *(*fill_index)(const peat_call *c, int32_t rank, const int64_t *dim,
                             const double *value);
    /* [graph] row() at every position of a side -> constant [pos_B, T, d]. The rows of positions
     * that are whole numbers on one axis are cached over steps. The side may be a copy with other
     * positions. */
    peat_node *(*rows)(const peat_call *c, const peat_side *side, int64_t d, peat_row_fn row);
    /* [graph] The positions of a side on one axis as a constant [pos_B, T]. */
    peat_node *(*pos)(const peat_call *c, const peat_side *side, int32_t axis);
    /* [graph] pos_k - pos_q on one axis as a constant [1|B, 1, Tq, Tk]. */
    peat_node *(*delta)(const peat_call *c, int32_t axis);
    /* [graph] Random numbers as a constant: uniform in [0,1), keyed by seed, scheme, name and
     * layer, and in training by the step. Equal calls get equal numbers, so in evaluation every
     * batch gets the same. */
    peat_node *(*random)(const peat_call *c, const char *name, int32_t rank, const int64_t *dim);
    /* [graph] n random numbers like those of `random` for row b, into out [n]. Their key has the
     * row's sequence id too, so a row has the same numbers in any batch. For hooks that write
     * positions and for scratch memory, since it makes no node. */
    void (*random_row)(const peat_call *c, const char *name, int64_t b, int64_t n, double *out);
    /* [graph] Names a node for `peat inspect` and `peat diagnose`. */
    void (*probe)(const peat_call *c, const char *name, peat_node *n);

    /* [any] The index-th draw of a stream: 64 uniform bits. A pure function of both. */
    uint64_t (*draw)(uint64_t stream, uint64_t index);
    /* [any] Writes a line into the cell's log. */
    void (*log)(const peat_host *h, const char *fmt, ...);
    /* [any] An optional interface by its name; NULL where this host lacks it. */
    const void *(*extension)(const peat_host *h, const char *name);

    /* [setup] The token table of this model, for schemes and combinations. */
    peat_token_table (*token_table)(peat_setup *s);
    /* [setup] As `resolved`, for a parameter that is a list. The numbers are copied. */
    void (*resolved_list)(peat_setup *s, const char *key, peat_reals value);

    /* [any] The format of a file of n bytes, recognised by its first bytes and worded to follow
     * "'path' is": "packed with gzip: unpack it first", "a PNG image". Static. NULL: its first
     * bytes name no format, as those of text and of plain numbers do not. */
    const char *(*file_kind)(const unsigned char *byte, int64_t n);
    /* [setup] Token ids of a NumPy array, which has one axis and any integer dtype. byte [bytes] is
     * the content of the file `path`, as read_file returned it. Returns *n ids from 0 to 2^31 - 1,
     * borrowed until the model dies. NULL: *n is -1 where the file is not a NumPy array, and 0
     * after an error, already reported. */
    const int32_t *(*npy_ids)(peat_setup *s, const char *path, const unsigned char *byte,
                              int64_t bytes, int64_t *n);
    /* [setup] True where a parameter with PEAT_PATH names a folder, as `peat tokenize` makes it:
     * read_file reads the files in it by their paths. */
    bool (*is_folder)(peat_setup *s, const char *path);
};

static inline int32_t peat_param_new(peat_setup *s, const char *name, int32_t rank,
                                     const int64_t *dim, peat_init init, peat_scope scope,
                                     uint32_t use)
{
    return s->host->param(s, name, rank, dim, init, scope, use);
}
static inline void peat_bound(peat_setup *s, int32_t handle, double lo, double hi)
{
    s->host->bound(s, handle, lo, hi);
}
#define peat_refuse(s, ...) ((s)->host->refuse((s), __VA_ARGS__))
static inline void *peat_alloc(peat_setup *s, size_t bytes)
{
    return s->host->alloc(s, bytes);
}
static inline void peat_resolved(peat_setup *s, const char *key, double value)
{
    s->host->resolved(s, key, value);
}
static inline void peat_resolved_list(peat_setup *s, const char *key, peat_reals value)
{
    s->host->resolved_list(s, key, value);
}
static inline peat_token_table peat_tokens(peat_setup *s)
{
    return s->host->token_table(s);
}
static inline peat_node *peat_use(const peat_call *c, int32_t handle)
{
    return c->host->use(c, handle);
}
static inline peat_node *peat_project(const peat_call *c, peat_node *x, int32_t which)
{
    return c->host->project(c, x, which);
}
static inline peat_node *peat_rows(const peat_call *c, const peat_side *side, int64_t d,
                                   peat_row_fn row)
{
    return c->host->rows(c, side, d, row);
}
static inline double *peat_scratch(const peat_call *c, int64_t n)
{
    return c->host->scratch(c, n);
}
static inline peat_node *peat_fill(const peat_call *c, int32_t rank, const int64_t *dim,
                                   const double *value)
{
    return c->host->fill(c, rank, dim, value);
}
static inline peat_node *peat_fill_index(const peat_call *c, int32_t rank, const int64_t *dim,
                                         const double *value)
{
    return c->host->fill_index(c, rank, dim, value);
}
static inline peat_node *peat_pos(const peat_call *c, const peat_side *side, int32_t axis)
{
    return c->host->pos(c, side, axis);
}
static inline peat_node *peat_delta(const peat_call *c, int32_t axis)
{
    return c->host->delta(c, axis);
}
static inline peat_node *peat_random(const peat_call *c, const char *name, int32_t rank,
                                     const int64_t *dim)
{
    return c->host->random(c, name, rank, dim);
}
static inline void peat_random_row(const peat_call *c, const char *name, int64_t b, int64_t n,
                                   double *out)
{
    c->host->random_row(c, name, b, n, out);
}
static inline void peat_probe(const peat_call *c, const char *name, peat_node *n)
{
    c->host->probe(c, name, n);
}
/* A uniform whole number in [0, n), from the index-th draw of a stream; n >= 1. The bias is below
 * 2^-32 for n < 2^32. */
static inline int64_t peat_below(const peat_host *h, uint64_t stream, uint64_t index, int64_t n)
{
    return (int64_t)((h->draw(stream, index) >> 1) % (uint64_t)n);
}

#ifdef __cplusplus
}
#endif
#endif
