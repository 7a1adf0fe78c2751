/* SPDX-License-Identifier: MIT */
/* cellfiles.c: records of a cell's files, the seal of a result over the others, and its values. */
#include "cell/cellfiles.h"

#include "cell/trunk.h"
#include "train/generation.h"

/* ---- records ---- */

static const struct field train_fields[] = {
    {"steps", FIELD_INT}, {"seq_len", FIELD_INT}, {"batch", FIELD_INT}, {NULL}};
static const struct field eval_fields[] = {{"lengths", FIELD_LIST | FIELD_TEXT, FIELD_INT}, {NULL}};
static const struct field config_fields[] = {
    {"experiment", FIELD_TEXT},
    {"index", FIELD_INT},
    {"hash", FIELD_TEXT | FIELD_NEEDED},
    {"setting", FIELD_TEXT},
    {"id", FIELD_TEXT},
    {"label", FIELD_TEXT},
    {"axes", FIELD_MAP, FIELD_TEXT},
    {"scheme", FIELD_TEXT},
    {"combine", FIELD_TEXT},
    {"seed", FIELD_INT},
    {"arithmetic", FIELD_INT},
    {"task", FIELD_MAP},
    {"model", FIELD_MAP},
    {"position", FIELD_MAP},
    {"train", FIELD_MAP, 0, train_fields},
    {"eval", FIELD_MAP, 0, eval_fields},
#define QUANTITY(files, name, key, flags, ...) QUANTITY_FIELD_OR_NULL((files)&IN_CONFIG, key, flags)
#include "base/quantities.inc"
    {"started", FIELD_TEXT},
    {"attention_path", FIELD_TEXT | FIELD_NULL},
    {"injection", FIELD_TEXT | FIELD_NULL},
    {"trunk", FIELD_MAP, 0, trunk_fields},
    {NULL},
};
const struct record config_record = {"config.json", "format", 1, false, config_fields};

static const struct field plugin_fields[] = {
    {"kind", FIELD_TEXT}, {"id", FIELD_TEXT},     {"version", FIELD_TEXT}, {"abi", FIELD_TEXT},
    {"path", FIELD_TEXT}, {"sha256", FIELD_TEXT}, {"built", FIELD_TEXT},   {NULL}};
static const struct field data_fields[] = {
    {"path", FIELD_TEXT}, {"sha256", FIELD_TEXT}, {"run", FIELD_TEXT}, {NULL}};
/* A value that is not finite is null. */
static const struct field measure_fields[] = {
    {"metric", FIELD_TEXT | FIELD_NEEDED},
    {"split", FIELD_TEXT | FIELD_NEEDED},
    {"length", FIELD_INT | FIELD_NEEDED},
    {"step", FIELD_INT},
    {"value", FIELD_NUMBER | FIELD_SIGNED | FIELD_NULL | FIELD_NEEDED},
    {"untrained", FIELD_BOOL},
    {"again", FIELD_TEXT},
    {NULL},
};
static const struct field tests_fields[] = {
    {"weights", FIELD_TEXT}, {"values", FIELD_LIST, FIELD_MAP, measure_fields}, {NULL}};
static const struct field formula_fields[] = {{"path", FIELD_TEXT}, {"sha256", FIELD_TEXT}, {NULL}};
static const struct field meta_fields[] = {
    {"plugins", FIELD_LIST, FIELD_MAP, plugin_fields},
    {"data", FIELD_LIST, FIELD_MAP, data_fields},
    {"engine", FIELD_TEXT},
    {"arithmetic", FIELD_TEXT},
    {"abi", FIELD_TEXT},
    {"host", FIELD_TEXT},
    {"cpu", FIELD_TEXT},
    {"gemm", FIELD_TEXT},
    {"blas", FIELD_TEXT},
    {"blas_core", FIELD_TEXT},
    {"libm", FIELD_TEXT},
    {"precision", FIELD_TEXT},
    {"compiler", FIELD_TEXT},
    {"build", FIELD_TEXT},
    {"threads", FIELD_INT},
    {"started_utc", FIELD_TEXT},
    {"trained_by", FIELD_TEXT},
    {"tests", FIELD_MAP, 0, tests_fields},
    {"formulas", FIELD_LIST, FIELD_MAP, formula_fields},
    {NULL},
};
const struct record meta_record = {"meta.json", "format", 1, true, meta_fields};

static const struct field stretch_fields[] = {
    {"length", FIELD_INT | FIELD_NEEDED},
    {"nll", FIELD_LIST | FIELD_NEEDED, FIELD_NUMBER | FIELD_NULL},
    {"targets", FIELD_LIST | FIELD_NEEDED, FIELD_INT},
    {NULL},
};
static const struct field metric_fields[] = {
    {"name", FIELD_TEXT | FIELD_NEEDED}, {"goal", FIELD_TEXT}, {NULL}};
static const struct field diverged_fields[] = {{"step", FIELD_INT}, {"what", FIELD_TEXT}, {NULL}};
static const struct field drift_fields[] = {{"step", FIELD_INT | FIELD_NEEDED},
                                            {"key", FIELD_TEXT | FIELD_NEEDED},
                                            {"from", FIELD_TEXT | FIELD_NEEDED},
                                            {"to", FIELD_TEXT | FIELD_NEEDED},
                                            {NULL}};
static const struct field file_fields[] = {
    {"bytes", FIELD_INT | FIELD_NEEDED}, {"sha256", FIELD_TEXT | FIELD_NEEDED}, {NULL}};
static const struct field result_fields[] = {
    {"id", FIELD_TEXT},
    {"hash", FIELD_TEXT | FIELD_NEEDED},
    {"state", FIELD_TEXT | FIELD_NEEDED},
    {"diverged", FIELD_MAP | FIELD_NULL, 0, diverged_fields},
    {"steps", FIELD_INT},
    {"stopped", FIELD_BOOL},
    {"measures", FIELD_LIST | FIELD_NEEDED, FIELD_MAP, measure_fields},
    {"eval_tokens", FIELD_INT | FIELD_TEXT},
    {"test_stretches", FIELD_LIST, FIELD_MAP, stretch_fields},
    {"metrics", FIELD_LIST, FIELD_MAP, metric_fields},
    {"length_unit", FIELD_TEXT},
#define QUANTITY(files, name, key, flags, ...) QUANTITY_FIELD_OR_NULL((files)&IN_RESULT, key, flags)
#include "base/quantities.inc"
    {"started", FIELD_TEXT},
    {"attention_path", FIELD_TEXT | FIELD_NULL},
    {"injection", FIELD_TEXT | FIELD_NULL},
    {"resolved", FIELD_MAP},
    {"untrained", FIELD_MAP | FIELD_NULL, FIELD_INT},
    {"drift", FIELD_LIST, FIELD_MAP, drift_fields},
    {"batch_hash", FIELD_TEXT},
    {"init_hash", FIELD_TEXT},
    {"init_shapes", FIELD_TEXT},
    {"weights_hash", FIELD_TEXT},
    {"meta_hash", FIELD_TEXT},
    {"files", FIELD_MAP, FIELD_MAP, file_fields},
    {NULL},
};
const struct record result_record = {"result.json", "format", 2, false, result_fields};

static const struct field thinned_fields[] = {{"of", FIELD_TEXT | FIELD_NEEDED},
                                              {"bytes", FIELD_INT | FIELD_NEEDED},
                                              {"sha256", FIELD_TEXT | FIELD_NEEDED},
                                              {NULL}};
const struct record thinned_record = {"thinned.json", "format", 1, false, thinned_fields};

/* ---- sealing ---- */

static const char metrics_name[] = "metrics.jsonl";

/* The size of a regular file; -1: no such file. */
static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

const struct value *cell_curve_seal(const struct value *result)
{
    return value_get(value_get(result, "files"), metrics_name);
}

static bool seal_file(struct json files, const char *dir, const char *name, struct error *err)
{
    char hex[HASH_HEX];
    const struct file_path path = path_in(dir, name);
    if (hash_file(path.text, hex, err) != PEAT_OK)
        return false;
    struct json one = json_put_map(files, name);
    json_put_int(one, "bytes", size_of(path.text));
    json_put_text(one, "sha256", hex);
    return true;
}

/* "ckpt/step-00000500/model.safetensors" */
static const char *weights_name(struct arena *a, int64_t step)
{
    char generation[GENERATION_NAME];
    generation_name(step, generation);
    return arena_printf(a, "ckpt/%s/%s", generation, GENERATION_MODEL);
}

bool cell_files_seal(const char *dir, int64_t step, const struct value *meta, struct json result,
                     struct error *err)
{
    char hex[HASH_HEX];
    struct json files = json_put_map(result, "files");
    json_hash(meta, hex);
    json_put_text(result, "meta_hash", hex);
    return seal_file(files, dir, metrics_name, err) &&
           seal_file(files, dir, weights_name(result.a, step), err);
}

struct value *cell_thinned_seal(const struct value *result, const struct strbuf *thin,
                                struct arena *a)
{
    char hex[HASH_HEX];
    struct json seal = json_map(a);
    hash_bytes(thin->text, thin->n, hex);
    json_put_int(seal, "format", thinned_record.format);
    json_put_text(seal, "of", json_get_text(cell_curve_seal(result), "sha256"));
    json_put_int(seal, "bytes", (int64_t)thin->n);
    json_put_text(seal, "sha256", hex);
    return seal.v;
}

/* ---- checking ---- */

const struct value *cell_thinned(const char *dir, const struct value *result, struct arena *a)
{
    const struct value *whole = cell_curve_seal(result);
    struct value *thinned = NULL;
    if (whole && size_of(path_in(dir, metrics_name).text) != json_get_int(whole, "bytes", -1))
        record_read(dir, &thinned_record, a, &thinned, NULL);
    return thinned && same_text(json_get_text(thinned, "of"), json_get_text(whole, "sha256"))
               ? thinned
               : NULL;
}

static const char *meta_fault(const struct value *meta, const char *sealed)
{
    char hex[HASH_HEX];
    if (!meta)
        return "meta.json is missing: the programs that made the result are unknown";
    json_hash(meta, hex);
    return strcmp(hex, sealed) == 0 ? NULL
                                    : "meta.json is not the one that result.json was sealed with";
}

/* True for a path below the cell's directory, with no step up. */
static bool is_inside(const char *name)
{
    return *name && *name != '/' && !strstr(name, "..");
}

static const char *why_no_file(const char *path, const char *name, struct arena *a)
{
    struct error why = {0};
    int fd;
    peat_status status = file_open(path, O_RDONLY, FILE_ANYONES, &fd, &why);
    if (status == PEAT_OK)
        close(fd);
    return status == PEAT_OK || status == PEAT_NOTFOUND ? arena_printf(a, "%s is missing", name)
                                                        : arena_strdup(a, why.text);
}

/* by: the file that has the seal. whole: the file must be there, and all of it is checked. */
static const char *file_fault(const char *dir, const char *name, const char *by,
                              const struct value *sealed, bool whole, struct arena *a)
{
    if (!is_inside(name))
        return arena_printf(a, "'%s' is not a file of a cell", name);
    char hex[HASH_HEX];
    const char *path = arena_printf(a, "%s/%s", dir, name);
    int64_t bytes = size_of(path);
    if (bytes < 0)
        return whole ? why_no_file(path, name, a) : NULL;
    bool same = bytes == json_get_int(sealed, "bytes", -1);
    if (same && whole)
        same = hash_file(path, hex, NULL) == PEAT_OK && json_text_is(sealed, "sha256", hex);
    return same ? NULL : arena_printf(a, "%s is not the one that %s was sealed with", name, by);
}

const char *cell_files_fault(const char *dir, const struct value *result, const struct value *meta,
                             enum cell_look look, struct arena *a)
{
    const char *sealed = json_get_text(result, "meta_hash");
    const struct value *files = value_get(result, "files");
    if (json_get_int(result, "format", 1) > 1 && (!sealed || !value_get(files, metrics_name)))
        return "result.json is not sealed with the files beside it";
    const char *fault = sealed ? meta_fault(meta, sealed) : NULL;
    for (int i = 0; files && i < files->n && !fault; i++) {
        bool curve = strcmp(files->key[i], metrics_name) == 0;
        const struct value *thinned = curve ? cell_thinned(dir, result, a) : NULL;
        fault = file_fault(dir, files->key[i], thinned ? thinned_record.name : result_record.name,
                           thinned ? thinned : files->item[i], curve || look == LOOK_ALL, a);
    }
    return fault;
}

/* ---- evaluations ---- */

const struct value *result_measure(const struct value *result, const char *metric,
                                   const char *split, int64_t length)
{
    const struct value *m, *found = NULL;
    for (int i = 0; (m = json_get_item(result, "measures", i)); i++) {
        int64_t own = json_get_int(m, "length", 0);
        if ((!metric || json_text_is(m, "metric", metric)) && json_text_is(m, "split", split) &&
            (length < 0 || own == length) && (!found || own < json_get_int(found, "length", 0)))
            found = m;
    }
    return found;
}

const char *result_weights(const struct value *result, const char **sha256)
{
    const struct value *files = value_get(result, "files");
    for (int i = 0; files && i < files->n; i++)
        if (path_ends_in(files->key[i], "/" GENERATION_MODEL)) {
            *sha256 = json_get_text(files->item[i], "sha256");
            return files->key[i];
        }
    return NULL;
}

bool cell_lacks_evaluation(const struct value *config, const struct value *result)
{
    const struct value *lengths = value_get_path(config, "eval.lengths");
    if (json_text_is(result, "state", "diverged"))
        return false;
    /* Results of an earlier engine do not say how many targets they were scored on. */
    if (value_differs(value_get(result, "eval_tokens"), value_get_path(config, "eval.tokens")))
        return true;
    if (!lengths || lengths->kind != VALUE_LIST)
        return false;
    bool halves = json_get_bool(value_get(config, "eval"), "halves");
    for (int i = 0; i < lengths->n; i++) {
        int64_t length = lengths->item[i]->integer;
        if (!result_measure(result, NULL, "valid", length) ||
            (halves && !result_measure(result, NULL, "report", length)))
            return true;
    }
    return false;
}

/* ---- this process ---- */

struct json process_named(struct arena *a)
{
    char host[256] = "unknown", utc[32];
    gethostname(host, sizeof(host) - 1);
    clock_utc(utc, sizeof(utc));
    struct json v = json_map(a);
    json_put_int(v, "pid", getpid());
    json_put_text(v, "host", host);
    json_put_text(v, "started_utc", utc);
    return v;
}

bool process_read(const char *dir, const char *name, struct arena *a, int64_t *pid,
                  const char **host)
{
    struct value *v = NULL;
    json_read_file(dir, name, a, &v, NULL);
    *pid = json_get_int(v, "pid", 0);
    *host = json_get_text(v, "host");
    return *host != NULL;
}

bool host_is_this(const char *host)
{
    char mine[256] = "unknown";
    gethostname(mine, sizeof(mine) - 1);
    return same_text(host, mine);
}
