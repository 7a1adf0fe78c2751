/* SPDX-License-Identifier: MIT */
/*
 * opcheck.h: one call that checks a custom operation, in a test or a plain main(). The test
 * includes the plugin's source and links only to libm:
 *
 *     #include "bell.c"
 *     #include <peat/opcheck.h>
 *
 *     int main(void)
 *     {
 *         const peat_shape shape = {2, {3, 5}};
 *         const peat_op_trial trial = {.op = &bell, .n_src = 1, .shape = &shape};
 *         return peat_op_check(&trial, stderr) ? 0 : 1;
 *     }
 *
 * It checks:
 *   - gradients, in F64, by central differences, with respect to every element of every real
 *     operand; all results take part. backward must add to gradients, and skip unwanted ones.
 *   - F32, in which models are trained: results and gradients agree with those of F64, rounded.
 *   - units: forward and backward give the same bits whole and in parts, whatever scratch memory
 *     holds, and leave no result unwritten.
 *   - memory: nothing around operands, results, gradients and scratch is written to.
 */
#ifndef PEAT_OPCHECK_H
#define PEAT_OPCHECK_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <peat/custom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The operation to check, and its operands. Members that are left 0 have a default. */
typedef struct peat_op_trial {
    const peat_op *op;
    int32_t n_src;
    const peat_shape *shape; /* [n_src] shapes of the operands */
    /* [n_src] or NULL: values of the operands. For an entry that is NULL the check makes different
     * numbers in (-1, 1). */
    const double *const *value;
    const void *arg;
    uint32_t index; /* bit i: operand i is I32, and its values must be given */
    uint32_t kept;  /* bit i: only backward reads result i, and the loss does not depend on it */
    double limit;   /* limit of |gradient - difference| / max(1, |difference|); 0: 1e-6 */
} peat_op_trial;

enum { PEAT_TRIAL_MAX = 16, PEAT_TRIAL_ZONE = 512, PEAT_TRIAL_BYTE = 0x03 };

/* A view with guard zones around its data. The zones are filled with PEAT_TRIAL_BYTE, tiny numbers
 * that change when anything is added to them. */
typedef struct peat_trial_block {
    peat_view view;
    unsigned char *memory;
    size_t bytes;
} peat_trial_block;

typedef struct peat_trial {
    const peat_op_trial *of;
    FILE *out;
    bool failed;
    peat_trial_block src[PEAT_TRIAL_MAX], grad[PEAT_TRIAL_MAX];
    peat_trial_block result[PEAT_MAX_RESULTS], result_grad[PEAT_MAX_RESULTS];
    peat_trial_block scratch;
    peat_view view[4][PEAT_TRIAL_MAX];
    peat_op_call call;
} peat_trial;

static inline bool peat_trial_fail(peat_trial *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!t->failed && t->out) {
        fprintf(t->out, "%s: ", PEAT_HAS(t->of->op, name) ? t->of->op->name : "operation");
        vfprintf(t->out, fmt, args);
        fputc('\n', t->out);
    }
    va_end(args);
    t->failed = true;
    return false;
}

static inline int32_t peat_trial_results(const peat_trial *t)
{
    return PEAT_HAS(t->of->op, n_out) ? t->of->op->n_out : 1;
}

static inline bool peat_trial_is_index(const peat_trial *t, int32_t i)
{
    return t->of->index >> i & 1;
}

/* ---- memory ---- */

static inline void peat_trial_make(peat_trial_block *b, peat_dtype dtype, const peat_shape *shape)
{
    peat_view v = {sizeof(peat_view), dtype, *shape, NULL};
    b->view = v;
    b->bytes = (size_t)peat_count(&b->view) * (dtype == PEAT_F64 ? 8 : 4);
    size_t whole = (b->bytes + 2 * PEAT_TRIAL_ZONE + 63) / 64 * 64;
    b->memory = (unsigned char *)aligned_alloc(64, whole);
    if (!b->memory)
        abort();
    memset(b->memory, PEAT_TRIAL_BYTE, whole);
    b->view.data = b->memory + PEAT_TRIAL_ZONE;
}

static inline bool peat_trial_intact(const peat_trial_block *b)
{
    for (size_t i = 0; b->memory && i < PEAT_TRIAL_ZONE; i++)
        if (b->memory[i] != PEAT_TRIAL_BYTE ||
            b->memory[PEAT_TRIAL_ZONE + b->bytes + i] != PEAT_TRIAL_BYTE)
            return false;
    return true;
}

static inline double peat_trial_number(int64_t i)
{
    return sin(1.7 + 1.3 * (double)i) * 0.9;
}

/* Element e of operand i. */
static inline double peat_trial_value(const peat_trial *t, int32_t i, int64_t e)
{
    const double *given = t->of->value ? t->of->value[i] : NULL;
    return given ? given[e] : peat_trial_number(e + 1000 * i);
}

static inline void peat_trial_release(peat_trial *t)
{
    for (int i = 0; i < PEAT_TRIAL_MAX; i++) {
        free(t->src[i].memory);
        free(t->grad[i].memory);
    }
    for (int i = 0; i < PEAT_MAX_RESULTS; i++) {
        free(t->result[i].memory);
        free(t->result_grad[i].memory);
    }
    free(t->scratch.memory);
    memset(t->src, 0, sizeof(t->src));
    memset(t->grad, 0, sizeof(t->grad));
    memset(t->result, 0, sizeof(t->result));
    memset(t->result_grad, 0, sizeof(t->result_grad));
    memset(&t->scratch, 0, sizeof(t->scratch));
}

/* ---- one run ---- */

static inline void peat_trial_show(peat_trial *t)
{
    for (int i = 0; i < PEAT_TRIAL_MAX; i++) {
        t->view[0][i] = t->src[i].view;
        t->view[1][i] = t->grad[i].view;
    }
    for (int i = 0; i < PEAT_MAX_RESULTS; i++) {
        t->view[2][i] = t->result[i].view;
        t->view[3][i] = t->result_grad[i].view;
    }
    memset(&t->call, 0, sizeof(t->call));
    t->call.size = sizeof(t->call);
    t->call.n_src = t->of->n_src;
    t->call.src = t->view[0];
    t->call.arg = t->of->arg;
}

/* Makes operands, results and their gradients of this type; false: infer refuses. */
static inline bool peat_trial_open(peat_trial *t, peat_dtype dtype)
{
    const peat_op_trial *of = t->of;
    peat_shape shape[PEAT_MAX_RESULTS];
    memset(shape, 0, sizeof(shape));
    for (int32_t i = 0; i < of->n_src; i++) {
        peat_trial_make(&t->src[i], peat_trial_is_index(t, i) ? PEAT_I32 : dtype, &of->shape[i]);
        peat_trial_make(&t->grad[i], dtype, &of->shape[i]);
        for (int64_t e = 0; e < peat_count(&t->src[i].view); e++)
            if (peat_trial_is_index(t, i))
                ((int32_t *)t->src[i].view.data)[e] = (int32_t)peat_trial_value(t, i, e);
            else /* F64 starts from values that F32 can hold, so that both types have the same
                  * operands */
                peat_store(&t->src[i].view, e, (double)(float)peat_trial_value(t, i, e));
    }
    peat_trial_show(t);
    if (!of->op->infer(&t->call, shape))
        return peat_trial_fail(t, "infer refuses these operands");
    for (int32_t i = 0; i < peat_trial_results(t); i++) {
        peat_trial_make(&t->result[i], dtype, &shape[i]);
        peat_trial_make(&t->result_grad[i], dtype, &shape[i]);
        for (int64_t e = 0; e < peat_count(&t->result_grad[i].view); e++)
            peat_store(&t->result_grad[i].view, e,
                       of->kept >> i & 1 ? 0 : peat_trial_number(7 * e + 31 * i));
    }
    peat_trial_show(t);
    t->call.out = t->view[2];
    peat_shape doubles = {1, {PEAT_HAS(of->op, scratch) ? of->op->scratch(&t->call) : 0}};
    if (doubles.dim[0] < 0)
        return peat_trial_fail(t, "scratch asks for %lld doubles", (long long)doubles.dim[0]);
    peat_trial_make(&t->scratch, PEAT_F64, &doubles);
    t->call.scratch = doubles.dim[0] > 0 ? (double *)t->scratch.view.data : NULL;
    return true;
}

static inline int64_t peat_trial_units(const peat_trial *t)
{
    return PEAT_HAS(t->of->op, units) ? t->of->op->units(&t->call) : 1;
}

/* Fills scratch memory with NaN, so that no kernel can rely on its content. */
static inline void peat_trial_spoil(peat_trial *t)
{
    for (int64_t i = 0; i < peat_count(&t->scratch.view); i++)
        ((double *)t->scratch.view.data)[i] = (double)NAN;
}

/* Runs all units in ranges of `grain`, the last range first if `turned`. */
static inline void peat_trial_run(peat_trial *t, bool back, int64_t grain, bool turned)
{
    int64_t units = peat_trial_units(t), n = (units + grain - 1) / grain;
    for (int64_t k = 0; k < n; k++) {
        int64_t begin = (turned ? n - 1 - k : k) * grain;
        int64_t end = begin + grain < units ? begin + grain : units;
        peat_trial_spoil(t);
        if (back)
            t->of->op->backward(&t->call, begin, end);
        else
            t->of->op->forward(&t->call, begin, end);
    }
}

static inline bool peat_trial_operands(const peat_trial *t)
{
    for (int32_t i = 0; i < t->of->n_src; i++)
        for (int64_t e = 0; e < peat_count(&t->src[i].view); e++)
            if (peat_load(&t->src[i].view, e) != (double)(float)peat_trial_value(t, i, e))
                return false;
    return true;
}

static inline bool peat_trial_zones(peat_trial *t, const char *when)
{
    for (int i = 0; i < PEAT_TRIAL_MAX; i++)
        if (!peat_trial_intact(&t->src[i]) || !peat_trial_intact(&t->grad[i]))
            return peat_trial_fail(t, "%s writes around operand %d or its gradient", when, i);
    for (int i = 0; i < PEAT_MAX_RESULTS; i++)
        if (!peat_trial_intact(&t->result[i]) || !peat_trial_intact(&t->result_grad[i]))
            return peat_trial_fail(t, "%s writes around result %d or its gradient", when, i);
    if (!peat_trial_intact(&t->scratch))
        return peat_trial_fail(t, "%s writes around scratch", when);
    return peat_trial_operands(t) || peat_trial_fail(t, "%s writes to an operand", when);
}

/* ---- the checks ---- */

/* Marks in wrote[i] which bytes of result i units [begin, end) write over bytes of `fill`. */
static inline void peat_trial_part(peat_trial *t, int64_t begin, int64_t end, unsigned char fill,
                                   bool *const *wrote)
{
    for (int32_t i = 0; i < peat_trial_results(t); i++)
        memset(t->result[i].view.data, fill, t->result[i].bytes);
    peat_trial_spoil(t);
    t->of->op->forward(&t->call, begin, end);
    for (int32_t i = 0; i < peat_trial_results(t); i++)
        for (size_t k = 0; k < t->result[i].bytes; k++)
            wrote[i][k] = wrote[i][k] || ((unsigned char *)t->result[i].view.data)[k] != fill;
}

/* Checks that each unit writes its own part of every result, and all of it. */
static inline void peat_trial_parts(peat_trial *t)
{
    static const unsigned char fill[2] = {0x35, 0xca}; /* two values, because a result's own byte
                                                        * may be equal to one of them */
    bool *first[PEAT_MAX_RESULTS], *rest[PEAT_MAX_RESULTS];
    int64_t units = peat_trial_units(t);
    int32_t n = peat_trial_results(t);
    for (int32_t i = 0; i < n; i++) {
        first[i] = (bool *)calloc(t->result[i].bytes + 1, sizeof(bool));
        rest[i] = (bool *)calloc(t->result[i].bytes + 1, sizeof(bool));
        if (!first[i] || !rest[i])
            abort();
    }
    for (int k = 0; k < 2; k++) {
        peat_trial_part(t, 0, units / 2, fill[k], first);
        peat_trial_part(t, units / 2, units, fill[k], rest);
    }
    for (int32_t i = 0; i < n; i++) {
        for (size_t k = 0; k < t->result[i].bytes; k++)
            if (first[i][k] && rest[i][k])
                peat_trial_fail(t, "forward writes result %d outside of the units it is asked for",
                                i);
            else if (!first[i][k] && !rest[i][k])
                peat_trial_fail(t, "forward leaves a part of result %d unwritten", i);
        free(first[i]);
        free(rest[i]);
    }
}

/* Checks that results are the same whole and in parts. */
static inline bool peat_trial_forward(peat_trial *t, const char *type)
{
    unsigned char *kept[PEAT_MAX_RESULTS];
    int32_t n = peat_trial_results(t);
    peat_trial_run(t, false, INT64_MAX / 4, false);
    for (int32_t i = 0; i < n; i++) {
        for (int64_t e = 0; e < peat_count(&t->result[i].view); e++)
            if (!isfinite(peat_load(&t->result[i].view, e)))
                peat_trial_fail(t, "element %lld of result %d is not finite (%s)", (long long)e, i,
                                type);
        kept[i] = (unsigned char *)malloc(t->result[i].bytes + 1);
        if (!kept[i])
            abort();
        memcpy(kept[i], t->result[i].view.data, t->result[i].bytes);
    }
    if (peat_trial_zones(t, "forward") && peat_trial_units(t) > 1)
        peat_trial_parts(t);
    peat_trial_run(t, false, 1, true);
    for (int32_t i = 0; i < n; i++) {
        if (memcmp(kept[i], t->result[i].view.data, t->result[i].bytes) != 0)
            peat_trial_fail(t, "forward in parts and whole differ in result %d (%s)", i, type);
        free(kept[i]);
    }
    return !t->failed;
}

/* Adds the gradients of the operands in `wanted` to `before`. */
static inline void peat_trial_backward(peat_trial *t, uint32_t wanted, int64_t grain, double before)
{
    for (int32_t i = 0; i < t->of->n_src; i++) {
        for (int64_t e = 0; e < peat_count(&t->grad[i].view); e++)
            peat_store(&t->grad[i].view, e, before);
        t->view[1][i].data =
            (wanted >> i & 1) && !peat_trial_is_index(t, i) ? t->grad[i].view.data : NULL;
    }
    t->call.out_grad = t->view[3];
    t->call.src_grad = t->view[1];
    peat_trial_run(t, true, grain, grain == 1);
}

/* L = sum of w y over all results, computed with element e of operand i moved by `by`. */
static inline double peat_trial_loss(peat_trial *t, int32_t i, int64_t e, double by)
{
    double *x = (double *)t->src[i].view.data + e, kept = *x, loss = 0;
    *x = kept + by;
    peat_trial_run(t, false, INT64_MAX / 4, false);
    *x = kept;
    for (int32_t k = 0; k < peat_trial_results(t); k++)
        for (int64_t j = 0; j < peat_count(&t->result[k].view); j++)
            loss += peat_load(&t->result[k].view, j) * peat_load(&t->result_grad[k].view, j);
    return loss;
}

/* Compares grad [n_src], the gradients in F64, with central differences. */
static inline bool peat_trial_differences(peat_trial *t, double *const *grad)
{
    double limit = t->of->limit > 0 ? t->of->limit : 1e-6, h = 1e-5;
    for (int32_t i = 0; i < t->of->n_src; i++)
        for (int64_t e = 0; !peat_trial_is_index(t, i) && e < peat_count(&t->src[i].view); e++) {
            double d = (peat_trial_loss(t, i, e, h) - peat_trial_loss(t, i, e, -h)) / (2 * h);
            if (!(fabs(grad[i][e] - d) <= limit * fmax(1, fabs(d))))
                return peat_trial_fail(t,
                                       "operand %d, element %lld: gradient %.9g, central "
                                       "difference %.9g",
                                       i, (long long)e, grad[i][e], d);
        }
    return true;
}

/* Copies the elements of n blocks into doubles, which peat_trial_forget releases. */
static inline void peat_trial_keep(const peat_trial_block *block, int32_t n, double **kept)
{
    for (int32_t i = 0; i < n; i++) {
        int64_t count = peat_count(&block[i].view);
        kept[i] = (double *)malloc((size_t)(count + 1) * sizeof(double));
        if (!kept[i])
            abort();
        peat_load_row(&block[i].view, 0, count, kept[i]);
    }
}

static inline void peat_trial_forget(double **kept, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        free(kept[i]);
}

/* Allocates and computes grad [n_src]; checks that gradients are the same whole and in parts, added
 * to any numbers, and with some unwanted. */
static inline bool peat_trial_gradients(peat_trial *t, double **grad)
{
    int32_t n = t->of->n_src;
    peat_trial_backward(t, UINT32_MAX, INT64_MAX / 4, 0);
    peat_trial_keep(t->grad, n, grad);
    peat_trial_zones(t, "backward");
    for (int32_t k = -2; k < n && !t->failed; k++) {
        uint32_t wanted = k < 0 ? UINT32_MAX : ~(UINT32_C(1) << k);
        double before = k == -1 ? 1 : 0;
        peat_trial_backward(t, wanted, k == -2 ? 1 : INT64_MAX / 4, before);
        for (int32_t i = 0; i < n; i++)
            for (int64_t e = 0; t->view[1][i].data && e < peat_count(&t->grad[i].view); e++)
                if (fabs(peat_load(&t->grad[i].view, e) - before - grad[i][e]) >
                    1e-12 * fmax(1, fabs(grad[i][e])))
                    peat_trial_fail(t, "operand %d, element %lld: backward %s", i, (long long)e,
                                    k == -2   ? "in parts and whole differ"
                                    : k == -1 ? "assigns a gradient instead of adding to it"
                                              : "depends on which gradients are wanted");
    }
    return !t->failed && peat_trial_differences(t, grad);
}

/* Compares n blocks in F32 with `expected`, those in F64. `what` names them in the message:
 * "result", "the gradient of operand". */
static inline bool peat_trial_agrees(peat_trial *t, const peat_trial_block *block, int32_t n,
                                     double *const *expected, const char *what)
{
    for (int32_t i = 0; i < n; i++)
        for (int64_t e = 0; e < peat_count(&block[i].view); e++) {
            double y = peat_load(&block[i].view, e), is = expected[i][e];
            if (!(fabs(y - is) <= 1e-4 * fmax(1, fabs(is))))
                return peat_trial_fail(t, "element %lld of %s %d is %.7g in F32, %.7g in F64",
                                       (long long)e, what, i, y, is);
        }
    return true;
}

/* Runs all checks; y and grad are room for the results and gradients of F64. */
static inline bool peat_trial_all(peat_trial *t, double **y, double **grad)
{
    int32_t n = peat_trial_results(t);
    bool back = PEAT_HAS(t->of->op, backward);
    if (!peat_trial_open(t, PEAT_F64) || !peat_trial_forward(t, "F64"))
        return false;
    peat_trial_keep(t->result, n, y);
    if (back && !peat_trial_gradients(t, grad))
        return false;
    peat_trial_release(t);
    if (!peat_trial_open(t, PEAT_F32) || !peat_trial_forward(t, "F32") ||
        !peat_trial_agrees(t, t->result, n, y, "result"))
        return false;
    if (!back)
        return true;
    peat_trial_backward(t, UINT32_MAX, 1, 0);
    return peat_trial_zones(t, "backward") &&
           peat_trial_agrees(t, t->grad, t->of->n_src, grad, "the gradient of operand");
}

/* True when every check passes; otherwise writes one line about the first that fails to out (may be
 * NULL). */
static inline bool peat_op_check(const peat_op_trial *of, FILE *out)
{
    peat_trial *t = (peat_trial *)calloc(1, sizeof(*t));
    double *y[PEAT_MAX_RESULTS] = {NULL}, *grad[PEAT_TRIAL_MAX] = {NULL};
    if (!t)
        abort();
    t->of = of;
    t->out = out;
    if (of->n_src < 0 || of->n_src > PEAT_TRIAL_MAX || peat_trial_results(t) < 1 ||
        peat_trial_results(t) > PEAT_MAX_RESULTS)
        peat_trial_fail(t, "%d operands and %d results are not 0 to %d and 1 to %d", of->n_src,
                        peat_trial_results(t), PEAT_TRIAL_MAX, PEAT_MAX_RESULTS);
    bool ok = !t->failed && peat_trial_all(t, y, grad);
    peat_trial_release(t);
    peat_trial_forget(y, PEAT_MAX_RESULTS);
    peat_trial_forget(grad, PEAT_TRIAL_MAX);
    free(t);
    return ok;
}

#ifdef __cplusplus
}
#endif
#endif
