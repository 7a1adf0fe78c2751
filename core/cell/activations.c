/* SPDX-License-Identifier: MIT */
/* activations.c: forward passes over windows or given rows, with an observer that keeps nodes. */
#include "cell/activations.h"

#include <fnmatch.h>

#include "tensor/gemm.h"
#include "train/trainer.h"

enum { PASS_TOKENS = 1024, PASS_ROWS = 64, PLACES_MOST = 512 };

/* The batch of each pass. */
struct batch_list {
    int n, room;
    peat_batch *item;
};

struct recorder {
    struct tensor_list *list;
    const struct activations *q;
    struct assembly *s;
    struct arena arena; /* of one pass */
    struct graph g;
    int64_t rows, first, B; /* all rows; rows [first, first + B) are in this pass */
    struct json groups, probes, shared;
};

/* ---- keeping ---- */

static bool is_wanted(const struct recorder *r, const char *name)
{
    const char *list = r->q->only;
    for (const char *word; list && (word = list_next(r->list->arena, &list, ','));)
        if (fnmatch(word, name, 0) == 0)
            return true;
    return !r->q->only;
}

/* The tensor of all rows, made at its first pass; NULL: out of memory, or of another shape. */
static struct tensor *whole(struct recorder *r, const char *name, int rank, const int64_t *dim)
{
    struct tensor_list *list = r->list;
    int64_t all[PEAT_MAX_RANK];
    memcpy(all, dim, (size_t)rank * sizeof(*dim));
    all[0] = r->rows;
    struct tensor shape = tensor_shape(PEAT_F64, rank, all);
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->tensor[i].name, name) == 0)
            return tensor_same_shape(&list->tensor[i].tensor, &shape) ? &list->tensor[i].tensor
                                                                      : NULL;
    shape.data = arena_try_array(list->arena, (size_t)tensor_count(&shape), sizeof(double));
    if (!shape.data)
        return NULL;
    struct named_tensor *t = ARENA_APPEND(list->arena, list->tensor, list->n, list->room);
    *t = (struct named_tensor){name, shape};
    return &t->tensor;
}

/* Notes the axes along which x is stretched. */
static void note_shared(struct recorder *r, const char *name, const struct tensor *x,
                        const int64_t *dim)
{
    struct json axes = json_list(r->list->arena);
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] == 1 && dim[i] > 1)
            json_add_int(axes, i);
    if (axes.v->n)
        json_put(r->shared, name, axes.v);
}

/* Keeps x, stretched to dim [B, ...], as rows of the tensor. */
static void keep(struct recorder *r, const char *name, const struct tensor *x, int rank,
                 const int64_t *dim)
{
    if (!is_wanted(r, name) || graph_failed(&r->g))
        return;
    const struct tensor *all = whole(r, name, rank, dim);
    struct tensor wide = tensor_broadcast_to(x, rank, dim),
                  part = tensor_shape(PEAT_F64, rank, dim);
    if (!all) {
        graph_fail(&r->g, "no memory for '%s', or rows of different length", name);
        return;
    }
    if (r->first == 0)
        note_shared(r, name, x, dim);
    part.data = (double *)all->data + r->first * (tensor_count(&part) / r->B);
    tensor_copy(&part, &wide);
}

/* Keeps a node whose first axis is rows, or 1 where all rows share it. */
static void keep_node(struct recorder *r, const char *name, const peat_node *x)
{
    int64_t dim[PEAT_MAX_RANK];
    memcpy(dim, x->value.dim, sizeof(dim));
    dim[0] = r->B;
    keep(r, name, &x->value, x->value.rank, dim);
}

/* x, or a given tensor's rows of this pass. */
static peat_node *replace(struct recorder *r, const char *name, peat_node *x)
{
    const struct named_tensor *t = safetensors_find(r->q->given, r->q->n_given, name);
    int64_t dim[PEAT_MAX_RANK];
    if (!t)
        return x;
    memcpy(dim, x->value.dim, sizeof(dim));
    dim[0] = r->rows;
    struct tensor shape = tensor_shape(PEAT_F64, x->value.rank, dim);
    if (t->tensor.dtype != PEAT_F64 || !tensor_same_shape(&t->tensor, &shape)) {
        char text[128];
        return graph_fail(&r->g, "--given: '%s' must be F64 %s", name,
                          tensor_shape_text(&shape, text, sizeof(text)));
    }
    dim[0] = r->B;
    return graph_constant(&r->g, PEAT_F64, x->value.rank, dim,
                          (double *)t->tensor.data + r->first * (tensor_count(&shape) / r->rows));
}

static peat_node *take(struct recorder *r, const char *name, peat_node *x)
{
    x = replace(r, name, x);
    if (x)
        keep_node(r, name, x);
    return x;
}

/* ---- the observer ---- */

static peat_node *on_stream(void *ctx, struct pass *pass, enum stream_kind kind, int index,
                            peat_node *x)
{
    struct recorder *r = ctx;
    struct arena *a = r->list->arena;
    const char *name = "token";
    if (kind == STREAM_POSITION)
        name = arena_printf(a, "position.%d.%s", index, pass->positional->scheme[index].part.id);
    else if (kind == STREAM_SEGMENT)
        name =
            index < 0 ? "segment" : arena_printf(a, "task.%s", r->s->task.plan.stream[index].name);
    return take(r, arena_printf(a, "%sstream.%s", pass->prefix, name), x);
}

static peat_node *on_node(void *ctx, struct pass *pass, const char *place, int64_t layer,
                          peat_node *x)
{
    struct recorder *r = ctx;
    struct arena *a = r->list->arena;
    return take(r,
                layer < 0 ? arena_printf(a, "%s%s", pass->prefix, place)
                          : arena_printf(a, "%sblock.%" PRId64 ".%s", pass->prefix, layer, place),
                x);
}

static void note_group(struct recorder *r, const char *name, const struct attention_seen *seen)
{
    struct json group = json_put_map(r->groups, name), heads = json_put_list(group, "heads");
    json_add_int(heads, seen->begin);
    json_add_int(heads, seen->end);
    json_put_real(group, "scale", seen->scale);
    json_put_text(group, "changed_by", seen->changed_by);
}

/* A layer's heads are one group, unless schemes act on some of them only. */
static void on_attention(void *ctx, const struct attention_seen *seen)
{
    struct recorder *r = ctx;
    struct arena *a = r->list->arena;
    struct pass *pass = seen->pass;
    const int64_t H = seen->end - seen->begin, T = seen->chain.q->value.dim[2];
    const int64_t pairs[] = {r->B, H, T, seen->chain.k->value.dim[2]};
    const char *name = arena_printf(a, "%sblock.%" PRId64 ".attention", pass->prefix, seen->layer);
    if (H < pass->dims.H)
        name = arena_printf(a, "%s.heads.%" PRId64 "-%" PRId64, name, seen->begin, seen->end);
    if (r->first == 0)
        note_group(r, name, seen);
    const struct {
        const char *name;
        const peat_node *node;
        bool pairs;
    } part[] = {
        {"q", seen->projected.q, false},      {"k", seen->projected.k, false},
        {"v", seen->projected.v, false},      {"chain.q", seen->chain.q, false},
        {"chain.k", seen->chain.k, false},    {"chain.v", seen->chain.v, false},
        {"score_add", seen->score_add, true}, {"bias", seen->bias, true},
        {"logits", seen->logits, true},       {"weights", seen->weights, true},
    };
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
        const char *own = arena_printf(a, "%s.%s", name, part[i].name);
        if (part[i].node && part[i].pairs)
            keep(r, own, &part[i].node->value, 4, pairs);
        else if (part[i].node)
            keep_node(r, own, part[i].node);
    }
    if (seen->layer == 0 && seen->begin == 0) {
        const int64_t dim[] = {r->B, 1, pairs[2], pairs[3]};
        const peat_node *mask = attention_mask_node(&r->g, pass->mask, r->B, dim[2], dim[3]);
        if (mask)
            keep(r, arena_printf(a, "%smask", pass->prefix), &mask->value, 4, dim);
    }
}

/* ---- batches ---- */

/* Copies item `at` of an array to a number, or the number to the item. */
static void copy_item(const struct batch_array *x, int64_t at, double *number, bool back)
{
    void *data = (void *)(uintptr_t)x->data;
    int32_t *id = data;
    uint8_t *flag = data;
    float *single = data;
    double *real = data;
    int64_t *count = data;
    double now = x->item == ID       ? id[at]
                 : x->item == FLAG   ? flag[at]
                 : x->item == NUMBER ? (double)single[at]
                 : x->item == REAL   ? real[at]
                                     : (double)count[at];
    if (!back)
        *number = now;
    else if (x->item == ID)
        id[at] = (int32_t)*number;
    else if (x->item == FLAG)
        flag[at] = *number != 0.0;
    else if (x->item == NUMBER)
        single[at] = (float)*number;
    else if (x->item == REAL)
        real[at] = *number;
    else
        count[at] = (int64_t)*number;
}

/* The array as [B, ...], planes behind rows; returns its rank. */
static int shape_of(const struct batch_array *x, int64_t *dim)
{
    memcpy(dim, x->dim, sizeof(x->dim));
    if (x->item == REAL) {
        dim[0] = x->dim[1];
        dim[1] = x->dim[0];
    }
    return x->rank;
}

/* Copies the array to numbers [B, ...], or back. */
static void copy_array(const struct batch_array *x, double *number, bool back)
{
    int64_t dim[3], planes = x->item == REAL ? x->dim[0] : 1, each = 1;
    int rank = shape_of(x, dim);
    for (int i = x->item == REAL ? 2 : 1; i < rank; i++)
        each *= dim[i];
    for (int64_t p = 0; p < planes; p++)
        for (int64_t b = 0; b < dim[0]; b++)
            for (int64_t i = 0; i < each; i++)
                copy_item(x, (p * dim[0] + b) * each + i, number + (b * planes + p) * each + i,
                          back);
}

static const char *batch_name(struct arena *a, const struct batch_array *x)
{
    return arena_printf(a, "batch.%s", x->name);
}

static void keep_batch(struct recorder *r, const peat_batch *b)
{
    struct batch_array x[BATCH_ARRAYS];
    int n = batch_arrays(&r->s->task, b, r->list->arena, x);
    for (int i = 0; i < n; i++) {
        int64_t dim[3];
        int rank = shape_of(&x[i], dim);
        struct tensor t = tensor_new(&r->arena, PEAT_F64, rank, dim);
        if (t.data)
            copy_array(&x[i], t.data, false);
        if (t.data)
            keep(r, batch_name(r->list->arena, &x[i]), &t, rank, dim);
    }
}

/* The number of rows of a pass: fewer where the vocabulary makes logits large, or the length makes
 * attention weights large. */
static int64_t rows_of(const struct assembly *s, int64_t T)
{
    const int64_t logits = INT64_C(1) << 25, pairs = INT64_C(1) << 18;
    int64_t tokens = at_most(at_most(logits / s->task.plan.vocab, PASS_TOKENS), pairs / T);
    return at_most(tokens / T < 1 ? 1 : tokens / T, PASS_ROWS);
}

/* Lists batches of windows until there are `rows` of them. */
static bool read_windows(struct recorder *r, struct batch_list *out)
{
    struct arena *a = r->list->arena;
    const struct task *task = &r->s->task;
    const int64_t T = task->plan.eval_T[0], cut = at_most(T, PLACES_MOST), n = rows_of(r->s, cut);
    const int64_t most = r->q->rows ? r->q->rows : ACTIVATION_PASSES * n;
    for (int64_t i = 0; r->rows < most; i++) {
        struct batch batch;
        if (task_batch_init(task, &batch, a, n, T) != PEAT_OK)
            return tensors_no_memory(r->list);
        if (task_eval_batch(task, 0, i, &batch, r->list->err) != PEAT_OK)
            return false;
        const peat_batch *b = &batch.b, *first = out->item;
        if (b->B == 0 || (i > 0 && (at_most(b->T, cut) != first->T || b->S != first->S)))
            break;
        peat_batch *part = ARENA_APPEND(a, out->item, out->n, out->room);
        if (!batch_cut(a, b, at_most(b->B, most - r->rows), NULL, at_most(b->T, cut), part))
            return tensors_no_memory(r->list);
        r->rows += part->B;
    }
    return r->rows > 0 || error_fail(r->list->err, PEAT_INVALID,
                                     "task '%s' has no evaluation windows", task->part.id);
}

static const struct named_tensor *given_array(const struct recorder *r, const char *name)
{
    return safetensors_find(r->q->given, r->q->n_given,
                            arena_printf(r->list->arena, "batch.%s", name));
}

/* Whether the array can hold the tensor's numbers. */
static bool fits(const struct batch_array *x, const struct tensor *t)
{
    const double most = x->item == COUNT ? 0x1p53 : x->item == FLAG ? 1.0 : (double)INT32_MAX;
    for (int64_t i = 0; x->item != NUMBER && x->item != REAL && i < tensor_count(t); i++) {
        double number = ((const double *)t->data)[i];
        if (!(number >= -1.0 && number <= most && number == floor(number)))
            return false;
    }
    return true;
}

/* Fills a whole batch with the given arrays; others stay empty, and classes 0. */
static bool fill_given(struct recorder *r, struct batch *batch)
{
    struct batch_array x[BATCH_ARRAYS];
    peat_batch *b = &batch->b;
    const struct named_tensor *source = given_array(r, "source");
    if (source && source->tensor.rank == 2)
        b->S = at_most(source->tensor.dim[1], batch->capacity_S);
    b->has_segment = given_array(r, "segment") || r->s->task.plan.n_segment > 0;
    b->has_document = given_array(r, "document");
    b->has_pad = given_array(r, "pad");
    b->has_special = given_array(r, "special");
    int n = batch_arrays(&r->s->task, b, r->list->arena, x);
    for (int64_t i = 0; i < b->B; i++) {
        b->sequence[i] = i;
        b->label[i] = 0;
    }
    for (int i = 0; i < n; i++) {
        const struct named_tensor *t = given_array(r, x[i].name);
        int64_t dim[3];
        const struct tensor shape = tensor_shape(PEAT_F64, shape_of(&x[i], dim), dim);
        char text[128];
        if (!t)
            continue;
        if (t->tensor.dtype != PEAT_F64 || !tensor_same_shape(&t->tensor, &shape))
            return error_fail(r->list->err, PEAT_INVALID, "--given: '%s' must be F64 %s", t->name,
                              tensor_shape_text(&shape, text, sizeof(text)));
        if (!fits(&x[i], &t->tensor))
            return error_fail(r->list->err, PEAT_INVALID,
                              "--given: '%s' has a number that is not an id", t->name);
        copy_array(&x[i], t->tensor.data, true);
    }
    return task_check_given(&r->s->task, batch, r->list->err) == PEAT_OK;
}

/* Lists the batches of the given rows. */
static bool read_given(struct recorder *r, const struct tensor *first, struct batch_list *out)
{
    struct arena *a = r->list->arena;
    struct batch all;
    if (first->rank < 2 || first->dim[0] < 1 || first->dim[1] < 1)
        return error_fail(r->list->err, PEAT_INVALID, "rows are given as [rows, places, ...]");
    r->rows = first->dim[0];
    if (task_batch_init(&r->s->task, &all, a, r->rows, first->dim[1]) != PEAT_OK)
        return tensors_no_memory(r->list);
    int64_t n = rows_of(r->s, all.b.T), *row = ARENA_ARRAY(a, r->rows, int64_t);
    for (int64_t i = 0; i < r->rows; i++)
        row[i] = i;
    if (!fill_given(r, &all))
        return false;
    for (int64_t i = 0; i < r->rows; i += n)
        if (!batch_cut(a, &all.b, at_most(n, r->rows - i), row + i, all.b.T,
                       ARENA_APPEND(a, out->item, out->n, out->room)))
            return tensors_no_memory(r->list);
    return true;
}

static bool read_rows(struct recorder *r, struct batch_list *out)
{
    const struct named_tensor *token = given_array(r, "token"), *patch = given_array(r, "patch");
    return token   ? read_given(r, &token->tensor, out)
           : patch ? read_given(r, &patch->tensor, out)
                   : read_windows(r, out);
}

/* ---- passes ---- */

/* Each target's loss in nats; NaN where there is none. */
static void keep_loss(struct recorder *r, const peat_batch *b, const struct tensor *logits)
{
    int64_t n, V = logits->dim[1];
    const int32_t *target = task_targets(&r->s->task, b, &n);
    struct tensor loss = tensor_new(&r->arena, PEAT_F64, 2, (int64_t[]){r->B, n / r->B});
    for (int64_t i = 0; loss.data && i < n; i++) {
        struct ce_sums sums = {0};
        struct tensor one = tensor_shape(PEAT_F64, 2, (int64_t[]){1, V});
        one.data = (double *)logits->data + i * V;
        cross_entropy_sums(r->g.team, &one, target + i, &sums);
        tensor_set(&loss, i, sums.targets ? sums.nll : (double)NAN);
    }
    if (loss.data)
        keep(r, "loss", &loss, 2, loss.dim);
}

/* Logits [B * T, V] or [B, classes]. */
static void keep_output(struct recorder *r, const peat_batch *b, const peat_node *logits)
{
    const int64_t T = logits->value.dim[0] / r->B, V = logits->value.dim[1];
    struct tensor x = tensor_shape(PEAT_F64, 3, (int64_t[]){r->B, T, V});
    x.data = logits->value.data;
    keep(r, "logits", &x, 3, x.dim);
    const bool class = r->s->task.plan.head == PEAT_HEAD_CLASS;
    if (is_wanted(r, "loss") && (r->q->n_given == 0 || given_array(r, class ? "label" : "target")))
        keep_loss(r, b, &logits->value);
}

/* A node whose first axis is not rows, as the first pass computes it. */
static void keep_once(struct recorder *r, const char *name, const struct tensor *x)
{
    struct tensor copy = tensor_new(r->list->arena, PEAT_F64, x->rank, x->dim);
    if (r->first > 0 || !is_wanted(r, name))
        return;
    if (copy.data)
        tensor_copy(&copy, x);
    if (!tensors_add(r->list, name, copy))
        graph_fail(&r->g, "no memory for '%s'", name);
}

/* "probe.rotary.angle", in later layers "probe.rotary.angle.1"; a number tells apart what one layer
 * names twice. */
static const char *probe_name(const struct pass *pass, int i, struct arena *a)
{
    const struct probe *p = &pass->probe[i];
    const char *name = arena_printf(a, "probe.%s.%s", p->plugin, p->node->name);
    int same = 0;
    if (p->layer > 0)
        name = arena_printf(a, "%s.%" PRId64, name, p->layer);
    for (int k = 0; k < i; k++)
        same += at_least(pass->probe[k].layer, 0) == at_least(p->layer, 0) &&
                strcmp(pass->probe[k].plugin, p->plugin) == 0 &&
                strcmp(pass->probe[k].node->name, p->node->name) == 0;
    return same ? arena_printf(a, "%s.again%d", name, same) : name;
}

/* What plugins name for inspection, in the order in which their hooks run. */
static void keep_probes(struct recorder *r, const struct pass *pass)
{
    struct arena *a = r->list->arena;
    for (int i = 0; i < pass->n_probe; i++) {
        const struct probe *p = &pass->probe[i];
        const struct tensor *v = &p->node->value;
        const char *name = probe_name(pass, i, a);
        if (r->first == 0)
            json_add_text(r->probes, name);
        if (v->rank > 2 && (v->dim[0] == r->B || v->dim[0] == 1))
            keep_node(r, name, p->node);
        else
            keep_once(r, name, v);
    }
}

static bool run_pass(struct recorder *r, const peat_batch *b, const struct team *team)
{
    const struct observer observer = {
        .ctx = r, .stream = on_stream, .node = on_node, .attention = on_attention};
    struct pass pass = {.observer = &observer, .collect = true};
    struct model_input in = forward_input(b, r->q->step < 0 ? PEAT_EVAL : PEAT_TRAIN);
    graph_init(&r->g, &r->arena, team, PEAT_F64);
    r->g.no_grad = true;
    in.step = r->q->step < 0 ? 0 : r->q->step;
    r->B = b->B;
    keep_batch(r, b);
    const peat_node *logits = model_forward(&r->s->model, &r->g, &in, &pass);
    if (logits)
        keep_output(r, b, logits);
    if (pass.classes)
        keep_node(r, "classes", pass.classes);
    if (logits)
        keep_probes(r, &pass);
    r->first += b->B;
    arena_reset(&r->arena);
    return forward_status(&r->g, "the model cannot be run", r->list->err) == PEAT_OK;
}

/* ---- how to read them ---- */

static void put_schemes(const struct recorder *r, struct json meta)
{
    const struct positional *p = &r->s->positional;
    struct json list = json_put_list(meta, "schemes");
    for (int i = 0; i < p->n_scheme; i++) {
        struct json one = json_add_map(list);
        struct strbuf hooks = STRBUF_NEW;
        hooks_list(PEAT_SCHEME, p->scheme[i].hooks, ACTS_BEFORE | ACTS_ON_MODEL, &hooks);
        json_put_text(one, "id", p->scheme[i].part.id);
        json_put_text(one, "hooks", strbuf_keep(&hooks, meta.a));
    }
    json_put_text(meta, "combine", p->combine ? p->combine_part.id : NULL);
}

/* Kinds of tensors that no tensor is of, and why. */
static void put_missing(const struct recorder *r, struct json meta)
{
    static const struct {
        const char *pattern, *why;
    } kind[] = {
        {"stream.position.*", "no scheme gives a stream"},
        {"*.attention*.q", "model.mixer is not attention"},
        {"*.attention*.bias", "no scheme adds terms to the logits"},
        {"*.attention*.score_add", "no scheme adds terms that the scale multiplies"},
        {"*.norm1", "model.norm_place is after"},
        {"probe.*", "no plugin names a node for inspection"},
    };
    struct json missing = json_put_map(meta, "missing");
    for (size_t i = 0; !r->q->only && i < sizeof(kind) / sizeof(*kind); i++) {
        bool found = false;
        for (int k = 0; k < r->list->n; k++)
            found = found || fnmatch(kind[i].pattern, r->list->tensor[k].name, 0) == 0;
        if (!found)
            json_put_text(missing, kind[i].pattern, kind[i].why);
    }
}

bool activations_add(struct tensor_list *list, struct assembly *s, const struct activations *q,
                     struct json meta)
{
    struct recorder r = {.list = list,
                         .q = q,
                         .s = s,
                         .groups = json_map(list->arena),
                         .probes = json_list(list->arena),
                         .shared = json_map(list->arena)};
    struct team team = {(int)q->threads, NULL};
    struct batch_list batches = {0};
    arena_init(&r.arena, "activations", 1 << 20);
    parallel_start();
    bool ok = gemm_start(&team, "auto", list->err) == PEAT_OK && read_rows(&r, &batches);
    for (int i = 0; ok && i < batches.n; i++)
        ok = run_pass(&r, &batches.item[i], &team);
    if (ok) {
        json_put_int(meta, "rows", r.rows);
        json_put_int(meta, "length", s->task.plan.eval_T[0]);
        json_put_int(meta, "pass_rows", rows_of(s, batches.item[0].T));
        json_put_bool(meta, "causal", s->model.dims.causal);
        put_schemes(&r, meta);
        json_put(meta, "groups", r.groups.v);
        json_put(meta, "probes", r.probes.v);
        json_put(meta, "shared", r.shared.v);
        put_missing(&r, meta);
    }
    gemm_stop(&team);
    arena_release(&r.arena);
    return ok;
}

bool activations_tokens(const char *path, struct arena *a, struct named_tensor *t,
                        struct error *err)
{
    struct data_files files = {.a = a, .keep_most = SIZE_MAX};
    const unsigned char *byte;
    const int32_t *id;
    size_t n;
    struct npy f;
    if (data_read(&files, path, a, &byte, &n, err) != PEAT_OK ||
        npy_open(&f, byte, n, path, err) != PEAT_OK)
        return false;
    const int64_t dim[] = {f.dim[0], f.dim[1]};
    if (f.rank != 2)
        return error_fail(err, PEAT_INVALID, "'%s' has %d axes; tokens are [rows, places]", path,
                          f.rank);
    f.rank = 1;
    if (npy_ids(&f, a, &id, err) != PEAT_OK)
        return false;
    *t = (struct named_tensor){"batch.token", tensor_new(a, PEAT_F64, 2, dim)};
    for (int64_t i = 0; t->tensor.data && i < f.n; i++)
        tensor_set(&t->tensor, i, id[i]);
    return t->tensor.data || error_fail(err, PEAT_NOMEM, "out of memory for '%s'", path);
}
