/* SPDX-License-Identifier: MIT */
/*
 * graph.h: the tape. Every operation runs when it is called and is recorded; graph_backward walks
 * the record from the end.
 *
 * A node's value and gradient live in the graph's step arena and die with it. A view (slice,
 * permute, reshape, an expand that repeats nothing) shares its root's memory, and its gradient is
 * the same view of its root's gradient: views cost nothing in either direction and have no
 * backward.
 */
#pragma once

#include <peat/ops.h>

#include "autograd/pool.h"
#include "process/trail.h"
#include "tensor/parallel.h"
#include "tensor/tensor.h"

struct graph;

/*
 * Writing an operation
 *
 * A file op_<family>.c has infer, forward and backward, and a function that calls graph_op.
 *
 * backward adds to the gradient of every operand that wants one (wants_grad of opkit.h). Most call
 * node_grad, whose memory is cleared before, and add to it. A backward that contributes to every
 * element of an operand calls node_grad_whole. Where that call sets `fresh`, the memory is not
 * cleared, and backward writes its contribution instead of adding it, which saves a pass over the
 * memory. Row functions have `fresh` as an argument and serve both cases.
 *
 * `unread` names values that backward does not read, so that their memory may be reused after
 * forward (autograd/recompute.h). Leaving it out is always right. backward may still look at their
 * shapes.
 *
 * Only the graph sets a node's flags grad_fresh (the memory of its gradient), reached (by
 * backward), and read and stays (its value is not dropped).
 */

/* Bits of op.unread. Bit i: the value of operand i; bit 29: those of all operands from 29 on;
 * UNREAD_SELF: the operation's own value. */
enum { UNREAD_FIRST = 1u << 0, UNREAD_SELF = 1u << 30, UNREAD_ALL = 0x7fffffff };

enum { ANY_TYPES = 0x7fffffff };

struct op {
    const char *name;
    /* Sets n->value's dtype and shape from n->src and n->arg, or calls graph_fail. */
    void (*infer)(peat_node *n);
    /* Writes n->value.data. May keep memory in n->saved (graph_scratch). */
    void (*forward)(peat_node *n);
    /* Adds to the gradients of operands from n->grad. NULL: they are zero. */
    void (*backward)(peat_node *n);
    /* Floating-point operations of forward; NULL: not counted (less than a product). */
    int64_t (*flops)(const peat_node *n);
    uint32_t unread; /* UNREAD_ bits */
    uint32_t index;  /* bit i: operand i is I32, and all others are real; or ANY_TYPES */
};

struct peat_node {
    struct graph *g;
    const struct op *op; /* NULL: a leaf                                              */
    struct tensor value;
    struct tensor grad; /* data NULL until something is added; then as large as value */
    bool grad_fresh;    /* of a root: grad has memory that is not cleared yet */
    bool needs_grad;
    int n_src;
    peat_node **src;     /* an entry may be NULL: optional operand                       */
    peat_node *view_of;  /* root whose memory this shares, never itself a view         */
    int64_t view_offset; /* in elements, from the root's data                         */
    const void *arg;     /* the operation's arguments                                  */
    void *saved;         /* what forward kept for backward                             */
    void *rounded;       /* a root's value as bf16 (node_rounded); NULL: not computed yet */
    const char *name;    /* name of a leaf or probe; otherwise NULL                    */
    const char *hook;    /* the hook that built it, for messages; otherwise NULL       */
    int64_t id;          /* place on the tape                                          */
    bool reached;        /* the loss depends on it through nodes with gradients        */
    bool stays;          /* its value is not dropped, because nodes outside its stretch read it */
    bool read;           /* some backward reads its value                              */
};

/* Nodes [begin, end) of the tape, whose values may be dropped and computed again:
 * autograd/recompute.h */
struct recomputed {
    int begin, end;
    size_t bytes; /* bytes that dropping the values frees */
    bool dropped;
};

struct graph {
    peat_graph base; /* first member: the part that plugins see */
    struct arena *arena;
    const struct team *team;
    peat_dtype dtype; /* F32, or F64 for gradient checks                               */
    bool shape_only;  /* plan: no memory for values, nothing is computed               */
    bool no_grad;     /* evaluation: nothing is recorded for backward                  */
    bool reuse;       /* reuse the memory of values and gradients that are no longer needed */
    struct pool pool; /* memory to be used again                                       */
    struct recomputed *recomputed;
    int n_recomputed, recomputed_room;
    size_t keep; /* limit of the bytes of all stretches that are not dropped         */
    peat_node **node;
    int n_node, room;
    int64_t flops;       /* floating-point operations of forward so far                     */
    int64_t value_bytes; /* bytes of all values (also when shape_only)                  */
    int64_t given_back;  /* when shape_only and reuse: bytes of the values that stretches drop */
    const char *hook;    /* name of the hook that is running; set around plugin calls      */
    struct trail *trail; /* records the kernels of plugins that run; NULL: they are not recorded */
    struct error err;    /* the first error; after it every operation returns NULL          */
    bool given_up;       /* the first error refuses the model, as a plugin does by peat_fail */
    const char *missing; /* the needs that the running hook did not declare, "PEAT_NEED_X (x_q,
                          * x_k)"; or NULL */
};

/* Makes an empty tape. Does not reset the arena: the caller decides when a step's memory ends. */
void graph_init(struct graph *g, struct arena *arena, const struct team *team, peat_dtype dtype);
bool graph_failed(const struct graph *g);
/* Fails with "operand N is missing" and the needs that the hook did not declare. */
void graph_fail_missing(struct graph *g, const char *op, int operand);
/* Keeps the first error, "hook: op: text"; returns NULL for the caller to return. */
peat_node *graph_fail(struct graph *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Fails with PEAT_NOMEM, "what: out of memory for ... bytes"; bytes 0: unknown. Returns NULL. */
peat_node *graph_no_memory(struct graph *g, const char *what, size_t bytes);
/* Memory that lives as long as the graph. NULL when shape_only, and when memory runs out, which
 * fails the graph. */
void *graph_scratch(struct graph *g, size_t bytes);
/* For a backward: gives back memory from graph_scratch that nothing reads any more. */
void graph_done_with(struct graph *g, void *scratch, size_t bytes);

/* Leaves. A constant borrows data (NULL: allocates, uncleared). A leaf with gradient accumulates
 * into `grad` if that is given (a parameter's own block), otherwise into the arena. Both are
 * contiguous. */
peat_node *graph_constant(struct graph *g, peat_dtype t, int rank, const int64_t *dim, void *data);
/* A constant of zeros: with this shape, or with x's shape (NULL: NULL). */
peat_node *graph_zeros(struct graph *g, peat_dtype dtype, int rank, const int64_t *dim);
peat_node *graph_zeros_like(struct graph *g, const peat_node *x);
peat_node *graph_leaf(struct graph *g, const struct tensor *value, const struct tensor *grad,
                      const char *name);

/* Records and runs op. src entries may be NULL only where `optional` has their bit; any other NULL
 * gives NULL. arg is copied into the arena. */
peat_node *graph_op(struct graph *g, const struct op *op, int n_src, peat_node *const *src,
                    uint32_t optional, const void *arg, size_t arg_size);
/* A view of src with the given shape and strides, offset in elements from src's own start. */
peat_node *graph_view(struct graph *g, peat_node *src, int rank, const int64_t *dim,
                      const int64_t *stride, int64_t offset);

/* The node whose memory holds n's value: n itself unless it is a view. Takes const and returns
 * non-const, as strchr does. */
peat_node *node_root(const peat_node *n);
/* The length of an axis; 0 for NULL. */
int64_t node_dim(const peat_node *n, int axis);

/* The node's gradient to add to, allocated and cleared at the first call; for a view, a view of the
 * root's gradient. */
struct tensor node_grad(peat_node *n);
/* node_grad for a contribution to every element. *fresh: the memory is not cleared, and the
 * contribution must be written, not added. */
struct tensor node_grad_whole(peat_node *n, bool *fresh);

/* n's value as bf16 for products, computed at the first call and kept for the products of backward.
 * NULL: products do not round in this graph, the graph has no backward, n is not its whole root in
 * order, or memory ran out. */
const void *node_rounded(peat_node *n);

/* Sets d loss / d loss = 1 (loss has one element) and runs every backward once, last first. With
 * g->reuse only leaves keep a gradient and a value: the memory of other nodes is used again as soon
 * as no backward needs it. */
void graph_backward(struct graph *g, peat_node *loss);
/* Marks `reached` on all nodes that graph_backward would reach. For plans, in which nothing
 * runs. */
void graph_reach(struct graph *g, peat_node *loss);

/* The first node whose value is not finite, or with `grads` the first in the order of backward
 * whose gradient is not; NULL: all are finite. */
peat_node *graph_first_nonfinite(struct graph *g, bool grads);
