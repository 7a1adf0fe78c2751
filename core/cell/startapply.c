/* SPDX-License-Identifier: MIT */
/* startapply.c: copies the numbers of files and of other cells into the weights of a model. */
#include <fnmatch.h>

#include "cell/assemble.h"
#include "cell/start.h"
#include "model/foreign_numbers.h"
#include "model/safetensors.h"

/* State of applying one start. */
struct starting {
    const struct cell_config *c;
    const struct weight_start *s;
    struct assembly *assembly;
    struct arena arena; /* memory of the file and its tensors */
    const unsigned char *byte;
    size_t bytes;
    int n; /* weights that get values from this start */
    struct weight **weight;
    const char *said;
    struct error *err; /* never NULL; steps return whether they succeeded */
};

/* ---- choosing weights ---- */

static bool is_wanted(const struct weight_start *s, const struct weight *w)
{
    for (int64_t i = 0; i < s->to.n; i++)
        if (fnmatch(s->to.item[i], w->name, 0) == 0)
            return true;
    return false;
}

static bool check_patterns(const struct starting *x)
{
    const struct weights *w = &x->assembly->model.weights;
    for (int64_t i = 0; i < x->s->to.n; i++) {
        const char *pattern = x->s->to.item[i];
        int k = 0;
        while (k < w->n && fnmatch(pattern, w->item[k]->name, 0) != 0)
            k++;
        if (k == w->n)
            return weights_none_called(w, pattern, x->err) == PEAT_OK;
    }
    return true;
}

static bool choose_weights(struct starting *x)
{
    struct weights *w = &x->assembly->model.weights;
    x->weight = ARENA_ARRAY(&x->arena, w->n, struct weight *);
    for (int i = 0; i < w->n; i++)
        if (is_wanted(x->s, w->item[i]))
            x->weight[x->n++] = w->item[i];
    return check_patterns(x);
}

/* Checks that `to` names one weight, because `tensor` is the name of one. */
static bool need_one(const struct starting *x)
{
    if (x->n == 1)
        return true;
    return error_fail(
        x->err, PEAT_INVALID,
        "with 'tensor', 'to' must name one parameter, but it fits %d ('%s', '%s', ...)", x->n,
        x->weight[0]->name, x->weight[1]->name);
}

/* ---- values ---- */

/* The cell's name, or the file's without its folders. */
static const char *origin(const struct weight_start *s)
{
    const char *label = json_get_text(s->config, "label");
    return s->config ? label ? label : s->cell : path_name(s->file);
}

/* Copies the tensor `name` of `path` into the weight, if that has memory. PEAT_REFUSED: another
 * shape. */
static peat_status start_set(struct weight *w, const char *path, const char *name,
                             const struct tensor *t, struct error *err)
{
    char has[128], wants[128];
    if (!tensor_same_shape(t, &w->value))
        return error_set(err, PEAT_REFUSED, "%s of '%s' has shape %s, and '%s' of the model has %s",
                         name, path, tensor_shape_text(t, has, sizeof(has)), w->name,
                         tensor_shape_text(&w->value, wants, sizeof(wants)));
    int64_t bad = numbers_not_finite(t);
    if (bad >= 0)
        return error_set(err, PEAT_INVALID,
                         "%s of '%s' has a value that is not finite in fp32 (number %lld)", name,
                         path, (long long)bad);
    if (w->value.data)
        tensor_copy(&w->value, t);
    return PEAT_OK;
}

static const char *name_in(const struct starting *x, const struct safetensors *f,
                           const struct weight *w)
{
    if (*x->s->tensor)
        return x->s->tensor;
    const char *only = safetensors_only(f);
    return only && x->n == 1 && !safetensors_has(f, w->name) ? only : w->name;
}

static bool from_tensors(struct starting *x)
{
    struct safetensors f;
    struct tensor t;
    const char *name = "", *path = x->s->file;
    bool ok = (!*x->s->tensor || need_one(x)) &&
              safetensors_open(&f, x->byte, x->bytes, path, &x->arena, x->err) == PEAT_OK;
    for (int i = 0; ok && i < x->n; i++) {
        name = name_in(x, &f, x->weight[i]);
        ok = safetensors_take(&f, name, &x->arena, &t, x->err) == PEAT_OK &&
             start_set(x->weight[i], path, arena_printf(&x->arena, "tensor '%s'", name), &t,
                       x->err) == PEAT_OK;
    }
    x->said = x->n == 1 ? arena_printf(&x->arena, "%s from %s of %s", x->weight[0]->name, name,
                                       origin(x->s))
                        : arena_printf(&x->arena, "%d parameters from %s", x->n, origin(x->s));
    return ok;
}

/* Recognises safetensors by the file's name, so that a damaged one is reported as such, or by the
 * beginning of its header. */
static bool is_safetensors(const struct starting *x)
{
    enum { HEADER_AT = 8 };
    return path_ends_in(x->s->file, ".safetensors") ||
           (x->bytes > HEADER_AT && x->byte[HEADER_AT] == '{');
}

static bool start_one(struct starting *x)
{
    if (x->s->as == START_SUM_OF_CONCAT)
        return error_fail(x->err, PEAT_INVALID,
                          "as: sum_of_concat was removed: "
                          "experiments/how-the-sum-is-read/sum_of_concat.py writes such weights");
    if (!choose_weights(x) ||
        data_read(x->c->files, x->s->file, &x->arena, &x->byte, &x->bytes, x->err) != PEAT_OK)
        return false;
    if (!is_safetensors(x))
        return error_fail(x->err, PEAT_INVALID,
                          "'%s' is not a safetensors file: `python3 -m peat.convert` makes one of "
                          "a NumPy array or of word vectors",
                          x->s->file);
    return from_tensors(x);
}

peat_status start_apply(struct assembly *s, const struct cell_config *c, struct error *err)
{
    s->started = NULL;
    bool ok = true;
    for (int i = 0; ok && i < c->n_start; i++) {
        struct error inner = {0};
        struct starting x = {.c = c, .s = &c->start[i], .assembly = s, .err = &inner};
        arena_init(&x.arena, "start", 1 << 16);
        ok = start_one(&x);
        if (ok)
            s->started = arena_printf(s->model.arena, "%s%s%s", s->started ? s->started : "",
                                      s->started ? "; " : "", x.said);
        arena_release(&x.arena);
        if (!ok)
            return place_failure(err, c->start[i].at, &inner);
    }
    return PEAT_OK;
}
