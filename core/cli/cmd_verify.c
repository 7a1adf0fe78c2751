/* SPDX-License-Identifier: MIT */
/* cmd_verify.c: peat verify DIR. */

#include "cli/verbs.h"
#include "experiment/words.h"
#include "grid/retrain.h"
#include "process/child.h"

enum { THREADS_MAX = 1024, CELLS_MAX = 1000000 };

struct request {
    bool json;
    const char *registered; /* a line of `peat plan --register`; NULL: not given */
    struct retraining again;
};

/* ---- printing ---- */

struct said {
    const struct verification *v;
    const struct retraining *again;
    const char *hash; /* NULL: no hash */
};

/* "; retrained with seed 7: 3 the same, 1 not comparable" */
static void print_retrained(const struct retraining *t)
{
    static const char *const what[RETRAIN_VERDICTS] = {"the same", "close", "not the same",
                                                       "not comparable", "failed"};
    int n[RETRAIN_VERDICTS] = {0};
    for (int i = 0; i < t->n; i++)
        n[t->item[i].verdict]++;
    cli_print("; retrained with seed %" PRId64 ": %d %s", t->seed, n[RETRAIN_SAME],
              what[RETRAIN_SAME]);
    for (int i = RETRAIN_SAME + 1; i < RETRAIN_VERDICTS; i++)
        if (n[i])
            cli_print(", %d %s", n[i], what[i]);
}

static void print_list(const struct remarks *list, const char *head)
{
    for (int i = 0; i < list->n; i++)
        cli_print("%s%s%s%s\n", head, list->item[i].cell ? list->item[i].cell : "",
                  list->item[i].cell ? ": " : "", list->item[i].text);
}

static void print_text(const struct said *s)
{
    const struct verification *v = s->v;
    print_list(&v->problems, "problem: ");
    print_list(&v->notes, "note: ");
    for (int i = 0; i < s->again->n; i++)
        cli_print("retrained: %s: %s%s%s\n", s->again->item[i].cell,
                  retrain_verdict_name[s->again->item[i].verdict],
                  *s->again->item[i].text ? ": " : "", s->again->item[i].text);
    print_list(&v->unchecked, "not checked: ");
    if (s->hash)
        cli_print("quote: %s\n", verify_quote(v, s->hash));
    cli_print("%s: %d cell%s, %d finished, %d problem%s", v->dir.path, v->finished + v->unfinished,
              plural(v->finished + v->unfinished), v->finished, v->problems.n,
              plural(v->problems.n));
    if (s->again->count)
        print_retrained(s->again);
    cli_print("\nhash %s\n", s->hash ? s->hash : "none: there are problems");
}

static void put_list(struct json map, const char *key, const struct remarks *list)
{
    struct json all = json_put_list(map, key);
    for (int i = 0; i < list->n; i++) {
        struct json one = json_add_map(all);
        json_put_text(one, "cell", list->item[i].cell);
        json_put_text(one, "text", list->item[i].text);
    }
}

static void verify_print_object(const struct said *s)
{
    struct json m = json_map(s->v->arena);
    json_put_text(m, "path", s->v->dir.path);
    json_put_int(m, "cells", s->v->finished + s->v->unfinished);
    json_put_int(m, "finished", s->v->finished);
    put_list(m, "problems", &s->v->problems);
    put_list(m, "notes", &s->v->notes);
    put_list(m, "not_checked", &s->v->unchecked);
    if (s->again->count)
        json_put_int(m, "seed", s->again->seed);
    struct json all = json_put_list(m, "retrained");
    for (int i = 0; i < s->again->n; i++) {
        struct json one = json_add_map(all);
        json_put_text(one, "cell", s->again->item[i].cell);
        json_put_text(one, "verdict", retrain_verdict_name[s->again->item[i].verdict]);
        json_put_text(one, "text", s->again->item[i].text);
    }
    json_put_text(m, "hash", s->hash);
    json_put_text(m, "quote", s->hash ? verify_quote(s->v, s->hash) : NULL);
    print_json(m.v);
}

/* ---- the command ---- */

static bool retrain(const struct verification *v, struct retraining *t, struct error *err)
{
    char program[PATH_MAX];
    if (!t->count)
        return true;
    if (t->seed < 0)
        t->seed = (int64_t)(clock_seconds() * 1e6) % 1000000;
    return own_program(program, sizeof(program), err) == PEAT_OK &&
           retrain_cells(v, t, program, err) == PEAT_OK;
}

static bool are_verified(const struct retraining *t)
{
    for (int i = 0; i < t->n; i++)
        if (t->item[i].verdict > RETRAIN_CLOSE)
            return false;
    return true;
}

static void list_not_retrained(struct verification *v, const struct retraining *t)
{
    int left = v->finished - t->n;
    if (left > 0)
        verify_add(&v->unchecked, NULL,
                   "the training of %d of %d cells: --retrain N trains N of them once more", left,
                   v->finished);
}

/* Sets present paths of files that were elsewhere when the cells were trained, from KEY=PATH. */
static peat_status find_moved(const struct cli *cli, const struct value **moved, struct error *err)
{
    struct value *map;
    peat_status status = words_map(cli->arena, cli->n_operand - 1, cli->operand + 1, &map, err);
    for (int i = 0; status == PEAT_OK && i < map->n; i++) {
        const char *given = map->item[i]->kind == VALUE_TEXT ? map->item[i]->text : NULL;
        char absolute[PATH_MAX];
        if (!given || !realpath(given, absolute))
            status = place_error(err, map->key_at[i], "%s must be the path of data", map->key[i]);
        else
            map->item[i] =
                value_text(cli->arena, map->key_at[i], arena_strdup(cli->arena, absolute));
    }
    *moved = map;
    return status;
}

static int verify(const struct cli *cli)
{
    struct request *q = cli->options;
    struct verification v;
    if (cli->n_operand > 1 && !strchr(cli->operand[1], '='))
        return cli_mistake(cmd_verify.name,
                           "'%s' is not KEY=PATH, and one directory is verified at a time",
                           cli->operand[1]);
    const struct cli_clash one[] = {
        {"seed threads", !q->again.count, "options '--seed' and '--threads' go with --retrain N"},
    };
    if (CLI_CLASHES(cli, one))
        return CLI_USAGE;
    if (cli->n_operand > 1 && !q->again.count)
        return cli_mistake(cmd_verify.name,
                           "'%s' is for cells that are trained again: give "
                           "--retrain N",
                           cli->operand[1]);
    if (find_moved(cli, &q->again.moved, cli->err) != PEAT_OK ||
        verify_dir(cli->operand[0], &v, cli->arena, cli->err) != PEAT_OK ||
        (q->registered && verify_registered(&v, q->registered, cli->err) != PEAT_OK) ||
        !retrain(&v, &q->again, cli->err))
        return CLI_USAGE;
    if (q->again.interrupted)
        return CLI_STOPPED;
    list_not_retrained(&v, &q->again);
    const struct said said = {&v, &q->again,
                              v.problems.n ? NULL : fingerprint_of(&v.dir, cli->arena)};
    if (q->json)
        verify_print_object(&said);
    else
        print_text(&said);
    return v.problems.n || !are_verified(&q->again) ? CLI_FAILED : CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_FLAG(0, "json", json, "one object instead of text"),
    CLI_TEXT(0, "registered", "LINE", registered,
             "whether it was registered by this line of `peat plan --register`"),
    CLI_WHOLE(0, "retrain", "N", 1, CELLS_MAX, again.count,
              "train N finished cells once more, elsewhere, and compare the bits"),
    CLI_WHOLE(0, "seed", "N", 0, INT64_MAX, again.seed,
              "which cells are retrained (default: any; the summary says which seed it was)"),
    CLI_WHOLE('t', "threads", "N", 1, THREADS_MAX, again.threads,
              "threads of the training (default: 1); the bits are the same"),
};

const struct cli_command cmd_verify = {
    .name = "peat verify",
    .summary = "whether a run directory is whole, and one hash for all of it",
    CLI_OPERANDS("DIR [key=path ...]", 1, CLI_MANY, "a run directory is needed"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.again = {.seed = -1, .threads = 1}),
    .run = verify,
};
