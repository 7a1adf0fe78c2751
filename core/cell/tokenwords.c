/* SPDX-License-Identifier: MIT */
/* tokenwords.c: looking words up among tokens. */
#include "tokenwords.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/word_vectors.h"

struct token {
    const char *text;
    size_t n;
    int64_t id;
    bool found;
};

static int by_text(const void *a, const void *b)
{
    const struct token *x = a, *y = b;
    size_t n = x->n < y->n ? x->n : y->n;
    int order = memcmp(x->text, y->text, n);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* Those that have a text, sorted by it. */
static struct token *list_tokens(const struct token_words *t, int64_t *n)
{
    int64_t V = t->weight->value.dim[0];
    struct token *all = ARENA_ARRAY(t->arena, V, struct token);
    *n = 0;
    for (int64_t id = 0; id < V; id++) {
        const char *text = task_token_text(t->task, (int32_t)id, t->arena);
        if (text)
            all[(*n)++] = (struct token){.text = text, .n = strlen(text), .id = id};
    }
    qsort(all, (size_t)*n, sizeof(*all), by_text);
    return all;
}

static void set_row(const struct token_words *t, int64_t row, const double *x)
{
    struct tensor *table = &t->weight->value;
    int64_t width = table->dim[1];
    for (int64_t i = 0; table->data && i < width; i++)
        tensor_set(table, row * width + i, x[i]);
}

/* Tokens of one text are all set. */
static peat_status take_word(struct token_words *t, const struct word_vectors *w,
                             const struct word_vector *v, struct token *all, int64_t n, double *x,
                             struct error *err)
{
    const struct token key = {.text = v->word, .n = v->n};
    struct token *one = n ? bsearch(&key, all, (size_t)n, sizeof(*all), by_text) : NULL;
    if (!one || one->found)
        return PEAT_OK;
    peat_status status = word_vectors_numbers(w, v, x, err);
    while (one > all && by_text(one - 1, &key) == 0)
        one--;
    for (; status == PEAT_OK && one < all + n && by_text(one, &key) == 0; one++) {
        set_row(t, one->id, x);
        one->found = true;
        t->found++;
    }
    return status;
}

static peat_status check_width(const struct token_words *t, const struct word_vectors *w,
                               struct error *err)
{
    char wants[128];
    if (w->width == t->weight->value.dim[1])
        return PEAT_OK;
    return error_set(err, PEAT_REFUSED,
                     "vectors of '%s' are %" PRId64 " wide, and '%s' of the model has shape %s",
                     w->path, w->width, t->weight->name,
                     tensor_shape_text(&t->weight->value, wants, sizeof(wants)));
}

peat_status token_words_take(struct token_words *t, const void *bytes, size_t size,
                             const char *path, struct error *err)
{
    struct word_vectors w;
    struct word_vector v;
    int64_t n = 0;
    peat_status status = word_vectors_open(&w, bytes, size, path, err);
    if (status == PEAT_OK)
        status = check_width(t, &w, err);
    if (status != PEAT_OK)
        return status;
    struct token *all = list_tokens(t, &n);
    if (n == 0)
        return error_set(err, PEAT_INVALID,
                         "the tokens of task '%s' have no texts that words could be",
                         t->task->part.id);
    double *x = ARENA_ARRAY(t->arena, w.width, double);
    do {
        status = word_vectors_next(&w, &v, err);
        if (status == PEAT_OK && v.word)
            status = take_word(t, &w, &v, all, n, x, err);
    } while (status == PEAT_OK && v.word);
    t->words = w.words;
    if (status == PEAT_OK && t->found == 0)
        status = error_set(err, PEAT_INVALID,
                           "none of the %" PRId64 " words of '%s' is one of the %" PRId64
                           " tokens of task '%s'",
                           t->words, path, t->weight->value.dim[0], t->task->part.id);
    return status;
}
