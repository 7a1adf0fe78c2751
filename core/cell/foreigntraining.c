/* SPDX-License-Identifier: MIT */
/* foreigntraining.c: reads the file of a training by another program into a trainer. */
#include "cellresult.h"

#include "train/generation.h"

enum { BY_BYTES = 1000 };
static const double seconds_most = 1e10; /* three centuries */

static const struct field formula_fields[] = {
    {"path", FIELD_TEXT | FIELD_NEEDED}, {"sha256", FIELD_TEXT | FIELD_NEEDED}, {NULL}};
enum { LOSS = FIELD_NUMBER | FIELD_SIGNED | FIELD_NULL | FIELD_NEEDED };
static const struct field facts_fields[] = {{"by", FIELD_TEXT | FIELD_NEEDED},
                                            {"steps", FIELD_INT | FIELD_NEEDED},
                                            {"first_loss", LOSS},
                                            {"last_loss", LOSS},
                                            {"seconds", FIELD_NUMBER | FIELD_NEEDED},
                                            {"median_step_ms", FIELD_NUMBER | FIELD_NEEDED},
                                            {"curve", FIELD_LIST | FIELD_NEEDED, FIELD_LIST},
                                            {"diverged", FIELD_INT},
                                            {"what", FIELD_TEXT},
                                            {"formulas", FIELD_LIST, FIELD_MAP, formula_fields},
                                            {NULL}};
static const struct record facts_record = {"peat_trained", NULL, 1, true, facts_fields};

static bool refuse(struct error *err, const char *path, const char *why)
{
    return error_fail(err, PEAT_INVALID, "'%s' %s", path, why);
}

static bool read_facts(const char *path, const struct value *metadata, const char *hash,
                       struct arena *a, struct value **facts, struct error *err)
{
    const char *text = json_get_text(metadata, "peat_trained");
    if (!text)
        return refuse(err, path, "is not a training by another program: it has no peat_trained");
    if (!json_text_is(metadata, "peat_hash", hash))
        return refuse(err, path,
                      "is the training of another cell: its peat_hash is not this one's");
    *facts = json_parse(a, text, strlen(text), path, err);
    return *facts && record_check(&facts_record, *facts, path, err) == PEAT_OK;
}

/* The curve has the steps that metrics.jsonl has of PEAT's own training: the first, each tenth and
 * the last, whose loss is last_loss; of numbers, or of null where the training diverged. */
static bool check_curve(const char *path, const struct foreign_training *f, const struct trainer *t,
                        struct error *err)
{
    double last = 0, loss = 0;
    for (int i = 0; i < f->curve->n; i++) {
        const struct value *one = f->curve->item[i];
        bool whole = one->n == 4 && one->item[0]->kind == VALUE_INT;
        for (int k = 1; whole && k < one->n; k++)
            whole = one->item[k]->kind == VALUE_NULL
                        ? t->diverged.step
                        : isfinite(value_number(one->item[k])) &&
                              (k == 1 || value_number(one->item[k]) >= 0);
        if (!whole)
            return error_fail(err, PEAT_INVALID,
                              "'%s': entry %d of the curve is not [step, loss, rate, norm of the "
                              "gradient]",
                              path, i + 1);
        if (one->item[0]->real <= last)
            return error_fail(err, PEAT_INVALID, "'%s': the steps of the curve do not rise", path);
        last = one->item[0]->real;
        loss = value_number(one->item[1]);
    }
    if (last != (double)t->step)
        return error_fail(err, PEAT_INVALID,
                          "'%s': the curve ends at step %g, and the training at step %" PRId64,
                          path, last, t->step);
    if (loss != f->last_loss && !(isnan(loss) && isnan(f->last_loss)))
        return refuse(err, path, "has another last_loss than its curve");
    return true;
}

static bool apply_facts(const char *path, const struct value *facts, struct trainer *t,
                        struct foreign_training *f, struct error *err)
{
    f->by = json_get_text(facts, "by");
    f->curve = value_get(facts, "curve");
    f->formulas = value_get(facts, "formulas");
    f->last_loss = json_get_number(facts, "last_loss");
    const struct value *diverged = value_get(facts, "diverged");
    t->step = t->adamw.t = t->model->weights.step = json_get_int(facts, "steps", 0);
    t->first_loss = json_get_number(facts, "first_loss");
    t->train_seconds = json_get_number(facts, "seconds");
    t->median_step_ms = json_get_number(facts, "median_step_ms");
    t->steps_timed = t->step;
    t->diverged.step = json_get_int(facts, "diverged", 0);
    snprintf(t->diverged.what, sizeof(t->diverged.what), "%s",
             json_text_or(facts, "what", "it diverged"));
    if (!*f->by || strlen(f->by) > BY_BYTES)
        return error_fail(err, PEAT_INVALID, "'%s': 'by' must have 1 to %d bytes", path, BY_BYTES);
    if (t->train_seconds > seconds_most || t->median_step_ms > 1e3 * seconds_most)
        return refuse(err, path, "has taken longer than three centuries");
    if (t->step < 1 || (diverged && t->diverged.step != t->step))
        return refuse(err, path, "does not end at the step at which it diverged");
    if (!diverged && !(isfinite(t->first_loss) && isfinite(f->last_loss)))
        return refuse(err, path, "has a loss that is no number, and did not diverge");
    if (t->step > t->train->steps || (!diverged && t->step != t->train->steps))
        return error_fail(err, PEAT_INVALID,
                          "'%s' has %" PRId64 " steps, and the cell has %" PRId64, path, t->step,
                          t->train->steps);
    return check_curve(path, f, t, err);
}

/* Reads the second moments, which show the rows that were never trained. */
static bool fill_moments(const char *path, struct trainer *t, const struct named_tensor *from,
                         int n_from, struct arena *a, struct error *err)
{
    int n;
    struct named_tensor *to = generation_tensors(&t->model->weights, &t->adamw, a, &n);
    for (int i = 0; i < n; i++) {
        if (strncmp(to[i].name, "opt.v.", 6) != 0)
            continue;
        const struct named_tensor *has = safetensors_find(from, n_from, to[i].name);
        if (!has || !tensor_same_shape(&has->tensor, &to[i].tensor))
            return error_fail(err, PEAT_CORRUPT, "%s: tensor '%s' is missing or of another shape",
                              path, to[i].name);
        for (int64_t k = 0; k < tensor_count(&has->tensor); k++)
            if (!(tensor_get(&has->tensor, k) >= 0))
                return error_fail(err, PEAT_INVALID, "'%s': '%s' has a number below 0, or none",
                                  path, to[i].name);
        tensor_copy(&to[i].tensor, &has->tensor);
    }
    return true;
}

static bool check_finite(const char *path, const struct weights *w, struct error *err)
{
    for (int i = 0; i < w->n; i++)
        for (int64_t k = 0; k < tensor_count(&w->item[i]->value); k++)
            if (!isfinite(tensor_get(&w->item[i]->value, k)))
                return error_fail(err, PEAT_INVALID, "'%s': '%s' has a number that is not finite",
                                  path, w->item[i]->name);
    return true;
}

bool foreign_training_read(const char *path, const char *hash, struct trainer *t, struct arena *a,
                           struct foreign_training *f, struct error *err)
{
    struct named_tensor *tensor;
    struct value *metadata = NULL, *facts = NULL;
    int n;
    return safetensors_read(path, a, &tensor, &n, &metadata, err) == PEAT_OK &&
           read_facts(path, metadata, hash, a, &facts, err) &&
           apply_facts(path, facts, t, f, err) &&
           generation_fill(&t->model->weights, tensor, n, path, err) == PEAT_OK &&
           fill_moments(path, t, tensor, n, a, err) && check_finite(path, &t->model->weights, err);
}

static double number_at(const struct value *list, int i)
{
    return list->kind == VALUE_LIST && i < list->n ? value_number(list->item[i]) : (double)NAN;
}

void foreign_training_curve(const struct foreign_training *f, const struct trainer *t,
                            struct cell_metrics *m)
{
    for (int i = 0; i < f->curve->n; i++) {
        const struct value *one = f->curve->item[i];
        double step = number_at(one, 0);
        if (step >= 1 && step <= (double)t->train->steps)
            metrics_step(m, (int64_t)step, t->train->seq_len, number_at(one, 1), number_at(one, 2),
                         number_at(one, 3));
    }
}
