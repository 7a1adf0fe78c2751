/* SPDX-License-Identifier: MIT */
/* run_maker.c: run directories without training. */
#include "support/run_maker.h"

#include "support/support.h"

void run_maker_open(struct run_maker *m, const char *name)
{
    *m = (struct run_maker){
        .name = name,
        .report = "{\"metric\":\"bpb\",\"goal\":\"metric\",\"baseline\":null,\"at\":\"final\"}",
        .axes = "[{\"key\":\"position.scheme\",\"labels\":[]},"
                "{\"key\":\"position.combine\",\"labels\":[]}]",
        .dropped = "[]",
        .d_model = 32,
        .arch = "decoder",
        .task = "",
        .second = "position.combine",
        .q = {[Q_PARAMS] = 12345,
              [Q_PARAMS_POSITIONAL] = 2000,
              [Q_FLOPS_PER_TOKEN] = 74000,
              [Q_INPUT_RATIO_START] = 16,
              [Q_INPUT_RATIO] = 0.25,
              [Q_TOKENS_PER_S] = 1000,
              [Q_STEP_MS_MEDIAN] = 1.5,
              [Q_PEAK_RSS_KIB] = 20480,
              [Q_WALL_S] = 3.25,
              [Q_EVAL_S] = 0.5,
              [Q_CPU_S] = 3.5},
    };
    new_folder(m->dir, sizeof(m->dir));
    strbuf_init(&m->cells);
    strbuf_init(&m->claims);
}

static double own_number(int quantity)
{
    return 101 + quantity;
}

void run_maker_own_numbers(struct run_maker *m)
{
    for (int i = 0; i < QUANTITIES; i++)
        m->q[i] = own_number(i) * (quantities[i].form == FORM_KIB ? 1024 : 1);
}

void run_maker_shown(int quantity, char text[32])
{
    snprintf(text, 32, quantities[quantity].form == FORM_RATIO ? "%.0f : 1" : "%.0f",
             own_number(quantity));
}

void run_maker_close(struct run_maker *m)
{
    dir_remove(m->dir, NULL);
    strbuf_release(&m->cells);
    strbuf_release(&m->claims);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
}

/* The directory of a cell is named after its label in plan.json, which `file` reads back. */
static void cell_path(const struct run_maker *m, int cell, char *path, size_t n)
{
    char key[32];
    snprintf(key, sizeof(key), "-%08d\"", cell);
    const char *end = strstr(m->cells.text, key), *id = end;
    ck_assert_ptr_nonnull(end);
    while (id[-1] != '"')
        id--;
    snprintf(path, n, "%s/cells/%.*s", m->dir, (int)(end - id) + 9, id);
}

void run_maker_file(const struct run_maker *m, int cell, const char *name, const char *text)
{
    char path[256], file[320];
    struct error err = {0};
    cell_path(m, cell, path, sizeof(path));
    ck_assert_msg(dir_make(path, &err) == PEAT_OK, "%s", err.text);
    snprintf(file, sizeof(file), "%s/%s", path, name);
    write_file(file, text);
}

/* The members of this file, without braces, and a comma. */
static void add_quantities(struct strbuf *out, enum quantity_file file, const double *q)
{
    struct arena a;
    arena_init(&a, "quantities", 1 << 12);
    struct json m = json_map(&a);
    quantities_put(m, file, q);
    const char *text = json_to_text(m.v, JSON_DENSE, &a);
    strbuf_addf(out, "%.*s,", (int)strlen(text) - 2, text + 1);
    arena_release(&a);
}

/* A label as a part of a directory's name. */
static void add_part(struct strbuf *out, const char *label)
{
    enum { PART_BYTES = 60 };
    strbuf_add(out, *label ? "" : "x");
    for (int i = 0; *label && i < PART_BYTES; label++, i++)
        strbuf_add_bytes(out,
                         isalnum((unsigned char)*label) || strchr("_+=-", *label) ? label : "_", 1);
}

/* Into plan.json; config.json beside it. Returns the cell's number. */
static int add_cell(struct run_maker *m, const char *scheme, const char *combine, int64_t seed)
{
    int cell = m->n++;
    strbuf_addf(&m->cells, "%s{\"index\":%d,\"id\":\"", cell ? "," : "", cell);
    add_part(&m->cells, scheme);
    strbuf_add(&m->cells, ".");
    add_part(&m->cells, combine);
    strbuf_addf(&m->cells,
                ".s%" PRId64 "-%08d\",\"label\":\"%s.%s.s%" PRId64
                "\",\"axes\":{\"position.scheme\":\"%s\",\"%s\":\"%s\"},"
                "\"scheme\":\"%s\",\"combine\":\"%s\",\"task\":\"text\",\"seed\":%" PRId64
                ",\"hash\":\"%08d\",",
                seed, cell, scheme, combine, seed, scheme, m->second, combine, scheme, combine,
                seed, cell);
    add_quantities(&m->cells, IN_PLAN, m->q);
    strbuf_addf(&m->cells,
                "\"attention_path\":\"fused\",\"injection\":\"%s: acts\",\"matched\":null,"
                "\"baseline\":null}",
                scheme);
    struct strbuf text = STRBUF_NEW;
    strbuf_addf(&text,
                "{\"format\":1,\"hash\":\"%08d\",\"label\":\"%s.%s.s%" PRId64
                "\",\"task\":{\"plugin\":\"%s\"%s},\"model\":{\"arch\":\"%s\",\"d_model\":%" PRId64
                "}%s%s}",
                cell, scheme, combine, seed, strcmp(m->second, "task") == 0 ? combine : "text",
                m->task, m->arch, m->d_model, m->train ? ",\"train\":" : "",
                m->train ? m->train : "");
    run_maker_file(m, cell, "config.json", text.text);
    strbuf_release(&text);
    return cell;
}

static void add_hash(struct strbuf *out, const char *key, const char *hash)
{
    if (hash)
        strbuf_addf(out, "\"%s\":\"%s\",", key, hash);
}

static void add_measure(struct strbuf *out, const char *metric, int length, double value)
{
    char number[32];
    number_text(value, number);
    strbuf_addf(out,
                "{\"metric\":\"%s\",\"split\":\"valid\",\"length\":%d,\"step\":300,\"value\":%s,"
                "\"untrained\":%s},",
                metric, length, number, length > 128 ? "true" : "false");
}

static void add_result(struct run_maker *m, int cell, const char *state, double at_128,
                       double at_256)
{
    struct strbuf out = STRBUF_NEW;
    bool diverged = strcmp(state, "diverged") == 0;
    strbuf_addf(&out, "{\"format\":1,\"hash\":\"%08d\",\"state\":\"%s\",\"diverged\":%s,", cell,
                state, diverged ? "{\"step\":12,\"what\":\"loss is not finite\"}" : "null");
    add_hash(&out, "batch_hash", m->batches);
    add_hash(&out, "init_hash", m->init);
    add_hash(&out, "init_shapes", m->shapes);
    m->q[Q_TOKENS_PER_S] += cell;
    add_quantities(&out, IN_RESULT, m->q);
    m->q[Q_TOKENS_PER_S] -= cell;
    strbuf_add(&out, "\"steps\":300,\"measures\":[");
    if (!diverged) {
        add_measure(&out, "bpb", 128, at_128);
        add_measure(&out, "bpb", 256, at_256);
        add_measure(&out, "accuracy", 128, 1.0 - at_128 / 10.0);
    }
    strbuf_addf(&out,
                "{\"metric\":\"loss\",\"split\":\"train\",\"length\":64,\"step\":300,"
                "\"value\":%s,\"untrained\":false}],"
                "\"metrics\":[{\"name\":\"bpb\",\"goal\":\"min\"},"
                "{\"name\":\"accuracy\",\"goal\":\"max\"}],\"length_unit\":\"tokens\"}",
                diverged ? "null" : "1.25");
    run_maker_file(m, cell, "result.json", out.text);
    run_maker_file(m, cell, "meta.json",
                   "{\"plugins\":[{\"kind\":\"task\",\"id\":\"text\",\"version\":\"1.0\","
                   "\"sha256\":\"aa\"},{\"kind\":\"scheme\",\"id\":\"rotary\",\"version\":\"1.1\","
                   "\"sha256\":\"bb\"}],\"data\":[{\"path\":\"x\",\"sha256\":\"cc\"}],"
                   "\"engine\":\"0.1.0\",\"abi\":\"0.1\",\"host\":\"h\",\"cpu\":\"a, \\\"b\\\"\","
                   "\"threads\":1,\"started_utc\":\"2026-01-31T12:00:00Z\"}");
    strbuf_release(&out);
}

void run_maker_done(struct run_maker *m, const char *scheme, const char *combine, int64_t seed,
                    double at_128, double at_256)
{
    add_result(m, add_cell(m, scheme, combine, seed), "done", at_128, at_256);
}

void run_maker_state(struct run_maker *m, const char *scheme, const char *combine, int64_t seed,
                     const char *state)
{
    int cell = add_cell(m, scheme, combine, seed);
    char text[64];
    if (strcmp(state, "todo") == 0)
        return;
    if (strcmp(state, "diverged") == 0) {
        add_result(m, cell, state, (double)NAN, (double)NAN);
        return;
    }
    if (strcmp(state, "stale") == 0) {
        add_result(m, cell, "done", 9.0, 9.0);
        run_maker_file(m, cell, "stale.json", "{}");
        return;
    }
    snprintf(text, sizeof(text), "{\"state\":\"%s\",\"reason\":\"why\"}", state);
    run_maker_file(m, cell, "end.json", text);
}

void run_maker_claim(struct run_maker *m, const char *claims, int results)
{
    struct arena a;
    struct error err = {0};
    char hex[HASH_HEX];
    arena_init(&a, "claims", 1 << 12);
    const struct value *v = json_parse(&a, claims, strlen(claims), "claims", &err);
    ck_assert_msg(v, "%s", err.text);
    json_hash(v, hex);
    strbuf_addf(&m->claims,
                "%s{\"sha256\":\"%s\",\"written_utc\":\"2026-01-%02dT12:00:00Z\",\"results\":%d,"
                "\"claims\":%s}",
                m->claims.n ? "," : "", hex, results + 1, results, claims);
    arena_release(&a);
}

static void write_claims(const struct run_maker *m)
{
    struct strbuf out = STRBUF_NEW;
    char path[128];
    strbuf_addf(&out, "{\"format\":1,\"versions\":[%s]}", m->claims.text);
    snprintf(path, sizeof(path), "%s/claims.json", m->dir);
    write_file(path, out.text);
    strbuf_release(&out);
}

void run_maker_finish(struct run_maker *m)
{
    if (m->claims.n)
        write_claims(m);
    struct strbuf out = STRBUF_NEW;
    char path[128];
    strbuf_addf(&out,
                "{\"format\":1,\"experiment\":\"%s\",\"axes\":%s,\"seeds\":[0,1,2],"
                "\"report\":%s,\"cells\":[%s],\"dropped\":%s}",
                m->name, m->axes, m->report, m->cells.text, m->dropped);
    snprintf(path, sizeof(path), "%s/plan.json", m->dir);
    write_file(path, out.text);
    strbuf_release(&out);
}
