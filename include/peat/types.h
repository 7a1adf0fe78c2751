/* SPDX-License-Identifier: MIT */
/*
 * types.h: status codes, element types and the opaque handles that cross the plugin boundary.
 *
 * Letters used for dimensions in all headers:
 *   B batch, T sequence (Tq queries, Tk keys), D model width, H heads, C head width, L layers,
 *   V vocabulary, A position axes, d width of one stream.
 *
 * Phase tags of functions:
 *   [setup]  one thread, once per model; may allocate, refuse, register parameters.
 *   [graph]  one thread per graph; builds nodes; no I/O.
 *   [kernel] many threads on disjoint ranges; no allocation, no log, no failure.
 *   [any]    everywhere.
 */
#ifndef PEAT_TYPES_H
#define PEAT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEAT_MAX_RANK   6
#define PEAT_MAX_AXES   3 /* position axes */
#define PEAT_MAX_SHARED 8 /* nodes a scheme's prepare may pass to its other hooks */

/* X(name, value, text). Values are part of the ABI and are never reused. */
#define PEAT_STATUS_LIST(X)                                                                        \
    X(OK, 0, "success")                                                                            \
    X(INVALID, -1, "invalid argument or configuration")                                            \
    X(REFUSED, -2, "refused by a plugin")                                                          \
    X(NOMEM, -3, "out of memory")                                                                  \
    X(IO, -4, "input or output failed")                                                            \
    X(MISMATCH, -5, "plugin does not match this program")                                          \
    X(NOTFOUND, -6, "not found")                                                                   \
    X(CORRUPT, -7, "file is damaged")                                                              \
    X(DIVERGED, -8, "training diverged")                                                           \
    X(INTERRUPTED, -9, "interrupted")                                                              \
    X(FAILED, -10, "failed")

typedef enum peat_status {
#define PEAT_STATUS_ENUM(name, value, text) PEAT_##name = value,
    PEAT_STATUS_LIST(PEAT_STATUS_ENUM)
#undef PEAT_STATUS_ENUM
} peat_status;

/* Element types. F32 for training, F64 for gradient checks and references, I32 for indices. */
typedef enum peat_dtype { PEAT_F32 = 0, PEAT_F64 = 1, PEAT_I32 = 2 } peat_dtype;

/* A value in a computation, with a shape. It lives until its graph dies; a plugin never frees it.
 */
typedef struct peat_node peat_node;
/* One forward pass under construction. Its first member is public: see ops.h. */
typedef struct peat_graph peat_graph;
/* The set-up of one plugin of one model: host.h. */
typedef struct peat_setup peat_setup;
/* The services of the engine, a table of functions: host.h. */
typedef struct peat_host peat_host;

/* A node's shape: dim[0] is the outermost axis. */
typedef struct peat_shape {
    int32_t rank;
    int64_t dim[PEAT_MAX_RANK];
} peat_shape;

/* Tests an optional field: true when it lies within the struct's own size and is not 0 or NULL. */
#define PEAT_HAS(ptr, field)                                                                       \
    ((ptr)->size >= offsetof(__typeof__(*(ptr)), field) + sizeof((ptr)->field) && (ptr)->field)

/* Puts a text into the file of a shared object, where the program reads it without loading the
 * file. owner_ has four letters; owner_ and text_ are literals. Without ELF: does nothing. */
#if defined(__GNUC__) && defined(__ELF__)
#define PEAT_NOTE(symbol_, owner_, text_)                                                          \
    static const struct {                                                                          \
        uint32_t owner_bytes, text_bytes, type;                                                    \
        char owner[8], text[sizeof(text_)];                                                        \
    } symbol_ __attribute__((section(".note.peat"), aligned(4), used)) = {                         \
        sizeof(owner_), sizeof(text_), 1, owner_, text_};
#else
#define PEAT_NOTE(symbol_, owner_, text_)
#endif

#ifdef __cplusplus
}
#endif
#endif
