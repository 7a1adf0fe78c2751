/* SPDX-License-Identifier: MIT */
/* The experiment file and the command line as axes, points and settings; no plugin is asked. */
#include "experiment/experiment.h"

#include "cell/cell.h"
#include "plugin/params.h"
#include "support/support.h"

#define HEAD "version: 1\nname: t\n"
#define GRID                                                                                       \
    HEAD "defaults:\n"                                                                             \
         "  task: copy\n"                                                                          \
         "  train: {steps: 20, lr: 1e-3}\n"                                                        \
         "matrix:\n"                                                                               \
         "  position.scheme: [none, {plugin: rotary, base: 500}, [learned, alibi]]\n"              \
         "  size:\n"                                                                               \
         "    S: {model.d_model: 64}\n"                                                            \
         "    M: {model.d_model: 128, train.batch: 8}\n"

static struct arena arena;
static struct error error;
static struct experiment experiment;
static char file[64];

static void set_up(void)
{
    arena_init(&arena, "test", 65536);
    error = (struct error){0};
    new_file(file, sizeof(file), "", 0);
}

static void tear_down(void)
{
    unlink(file);
    arena_release(&arena);
}

static peat_status try_load(const char *text, int n, const char *const *word)
{
    char *words[8];
    ck_assert_int_eq(file_write(file, text, strlen(text), &error), PEAT_OK);
    for (int i = 0; i < n; i++)
        words[i] = arena_strdup(&arena, word[i]);
    return experiment_load(&experiment, &arena, file, n, words, NULL, &error);
}

static void load(const char *text, int n, const char *const *word)
{
    ck_assert_msg(try_load(text, n, word) == PEAT_OK, "%s", error.text);
}

static struct point *points(int *n)
{
    struct point *point;
    ck_assert_msg(experiment_points(&experiment, &point, n, &error) == PEAT_OK, "%s", error.text);
    return point;
}

/* Those of a text with n words, of which there must be so many. */
static const struct point *loaded(int expected, const char *text, int n, const char *const *word)
{
    int count;
    load(text, n, word);
    const struct point *point = points(&count);
    ck_assert_int_eq(count, expected);
    return point;
}

static const char *text_at(const struct value *tree, const char *path)
{
    const struct value *v = value_get_path(tree, path);
    ck_assert_msg(v, "%s is not set", path);
    return value_label(&arena, NULL, v);
}

/* The message without the file's name. */
static const char *refusal(const char *text, int n, const char *const *word)
{
    peat_status status = try_load(text, n, word);
    if (status == PEAT_OK) {
        struct point *point;
        int count;
        status = experiment_points(&experiment, &point, &count, &error);
    }
    ck_assert_int_ne(status, PEAT_OK);
    size_t length = strlen(file);
    return strncmp(error.text, file, length) == 0 ? error.text + length + 1 : error.text;
}

static const char *label_of(const char *text)
{
    const char *word[] = {arena_printf(&arena, "position.scheme=%s", text)};
    return text_at(loaded(1, HEAD "defaults: {task: copy}\n", 1, word)->tree, "position.scheme");
}

/* ---- labels ---- */

TEST(labels_read_as_people_write_them)
{
    ck_assert_str_eq(label_of("rotary"), "rotary");
    ck_assert_str_eq(label_of("{plugin: rotary}"), "rotary");
    ck_assert_str_eq(label_of("{plugin: rotary, base: 500}"), "rotary(base=500)");
    ck_assert_str_eq(label_of("{base: 1e4, plugin: rotary, layout: halves}"),
                     "rotary(base=1e4,layout=halves)");
    ck_assert_str_eq(label_of("[[learned, alibi]]"), "learned+alibi");
    ck_assert_str_eq(label_of("[[learned, {plugin: alibi, where: {heads: [0, 1]}}]]"),
                     "learned+alibi(where={heads=[0,1]})");
}

TEST(names_of_cells_are_safe_in_file_names)
{
    const char *plain[] = {"rotary", "sum", "S"};
    const char *odd[] = {"rotary(base=500)", "-",           "./my plugin.so",
                         "[64,128]",         "\xc3\xa9/..", ".a"};
    ck_assert_str_eq(cell_label(&arena, 3, plain, 3), "rotary.sum.S.s3");
    const char *map[] = {"rotary(where={across=true})"};
    ck_assert_str_eq(cell_label(&arena, 6, odd, 0), "rotary-base=500.-.my-plugin.so.64-128.x.a.s0");
    ck_assert_str_eq(cell_label(&arena, 1, map, 0), "rotary-where.across=true.s0");
    ck_assert_str_eq(label_file_name(&arena, "alibi(where={layers=[0,2],heads=1},scale=-1)"),
                     "alibi-where.layers=0-2-heads=1-scale=-1");
    ck_assert(
        cell_fits("rotary(where={across=true}).*", NULL, "rotary-where.across=true.-.s0-1234abcd"));
}

TEST(long_labels_are_cut_to_fit_a_file_name)
{
    char x[400];
    memset(x, 'x', sizeof(x) - 1);
    x[sizeof(x) - 1] = '\0';
    const char *many[16];
    for (int i = 0; i < 16; i++)
        many[i] = x;
    ck_assert_uint_lt(strlen(cell_label(&arena, 16, many, 12345)), 240);
}

/* ---- precedence ---- */

TEST(built_in_position_is_none_and_sum)
{
    const struct value *tree = loaded(1, HEAD "defaults: {task: copy}\n", 0, NULL)->tree;
    ck_assert_str_eq(text_at(tree, "position.scheme"), "none");
    ck_assert_str_eq(text_at(tree, "position.combine"), "sum");
}

TEST(later_settings_win_default_axis_override_command_line)
{
    const char *file_text = HEAD "defaults: {task: copy, train: {lr: 1, steps: 5, batch: 2}}\n"
                                 "matrix: {train.lr: [2, 3]}\n"
                                 "overrides:\n"
                                 "  - {when: {train.lr: 3}, set: {train.lr: 4, train.batch: 7}}\n"
                                 "  - {when: {train.lr: [2, 3]}, set: {train.steps: 6}}\n";
    const char *word[] = {"train.batch=9"};
    const struct point *p = loaded(2, file_text, 0, NULL);
    ck_assert_str_eq(text_at(p[0].tree, "train.lr"), "2");
    ck_assert_str_eq(text_at(p[0].tree, "train.batch"), "2");
    ck_assert_str_eq(text_at(p[1].tree, "train.lr"), "4");
    ck_assert_str_eq(text_at(p[1].tree, "train.batch"), "7");
    ck_assert_str_eq(text_at(p[1].tree, "train.steps"), "6");
    ck_assert_str_eq(p[1].label[0], "3");
    ck_assert_str_eq(text_at(loaded(2, file_text, 1, word)[1].tree, "train.batch"), "9");
}

TEST(a_parameter_of_a_bare_name_makes_it_a_map)
{
    const char *word[] = {"task.path=f", "position.scheme.base=500"};
    const struct value *tree =
        loaded(1, HEAD "defaults: {task: text, position: {scheme: rotary}}\n", 2, word)->tree;
    ck_assert_str_eq(text_at(tree, "task.plugin"), "text");
    ck_assert_str_eq(text_at(tree, "task.path"), "f");
    ck_assert_str_eq(value_get_path(tree, "task.path")->at.file, "command line");
    ck_assert_str_eq(text_at(tree, "position.scheme"), "rotary(base=500)");
}

TEST(an_axis_replaces_a_plugin_and_its_parameters)
{
    const struct point *p = loaded(
        2, HEAD "defaults: {task: {plugin: text, path: f}}\nmatrix: {task: [copy, reverse]}\n", 0,
        NULL);
    ck_assert_str_eq(text_at(p[1].tree, "task"), "reverse");
    ck_assert_ptr_null(value_get_path(p[1].tree, "task.path"));
}

/* ---- points ---- */

TEST(the_product_is_in_axis_order)
{
    const struct point *p = loaded(6, GRID "seeds: [4, 2]\n", 0, NULL);
    ck_assert_str_eq(p[0].label[0], "none");
    ck_assert_str_eq(p[0].label[1], "S");
    ck_assert_str_eq(p[1].label[1], "M");
    ck_assert_str_eq(p[5].label[0], "learned+alibi");
    ck_assert_str_eq(text_at(p[1].tree, "train.batch"), "8");
    ck_assert_str_eq(text_at(p[1].tree, "train.steps"), "20");
}

/* Bytes that reading an axis of n learning rates takes. */
static size_t memory_of_axis(int n)
{
    struct strbuf text;
    size_t before = arena.used;
    strbuf_init(&text);
    strbuf_add(&text, HEAD "defaults: {task: copy}\nmatrix:\n  train.lr: [1");
    for (int i = 1; i < n; i++)
        strbuf_addf(&text, ",%de-9", i);
    strbuf_add(&text, "]\n");
    load(text.text, 0, NULL);
    strbuf_release(&text);
    return arena.used - before;
}

TEST(memory_of_an_axis_grows_as_its_values)
{
    size_t some = memory_of_axis(1000), more = memory_of_axis(4000);
    ck_assert_msg(more < 6 * some, "%zu bytes for 1000 values, %zu for 4000", some, more);
}

TEST(an_axis_of_too_many_values_is_refused_by_their_number)
{
    struct point *point;
    int n;
    ck_assert_uint_lt(memory_of_axis(22000), (size_t)200 << 20);
    ck_assert_int_eq(experiment_points(&experiment, &point, &n, &error), PEAT_INVALID);
    ck_assert_msg(strstr(error.text, "the grid has 22000 cells"), "%s", error.text);
}

TEST(exclude_matches_in_part_and_lists_mean_any)
{
    const struct point *p =
        loaded(4, GRID "  exclude: [{size: M, position.scheme: [none, learned+alibi]}]\n", 0, NULL);
    ck_assert_str_eq(p[2].label[0], "rotary(base=500)");
    ck_assert_str_eq(p[2].label[1], "M");
    loaded(4, GRID "  exclude: {position.scheme: {base: 500, plugin: rotary}}\n", 0, NULL);
}

TEST(numbers_name_an_axis_value_however_they_are_written)
{
    const struct point *p =
        loaded(1,
               HEAD "defaults: {task: copy}\n"
                    "matrix: {train.lr: [1e-3, 2e-3], exclude: {train.lr: 0.001}}\n",
               0, NULL);
    ck_assert_str_eq(p[0].label[0], "2e-3");
}

TEST(include_adds_cells_and_names_their_own_settings)
{
    const struct point *p =
        loaded(8,
               GRID "  include:\n"
                    "    - {position.scheme: alibi, size: S}\n"
                    "    - {position.scheme: none, size: M, model.n_layer: 8}\n",
               0, NULL);
    ck_assert_str_eq(p[6].label[0], "alibi");
    ck_assert_str_eq(text_at(p[6].tree, "position.scheme"), "alibi");
    ck_assert_str_eq(p[7].label[1], "M(n_layer=8)");
    ck_assert_str_eq(text_at(p[7].tree, "model.n_layer"), "8");
    ck_assert_str_eq(text_at(p[7].tree, "model.d_model"), "128");
}

TEST(a_dash_matches_any_combine_and_nothing_else)
{
    load(HEAD "defaults: {task: copy}\n"
              "matrix: {position.scheme: [none, learned], position.combine: [sum, multiply]}\n"
              "report: {baseline: {position.combine: sum}}\n",
         0, NULL);
    const struct point dash = {.label = {"none", "-"}}, other = {.label = {"-", "multiply"}};
    ck_assert(point_matches(&experiment, &dash, experiment.report.baseline));
    ck_assert(!point_matches(&experiment, &other, experiment.report.baseline));
}

TEST(the_count_is_checked_before_anything_is_expanded)
{
    struct strbuf text;
    strbuf_init(&text);
    strbuf_add(&text, HEAD "defaults: {task: copy}\nmatrix:\n");
    static const char *const key[] = {"batch", "steps", "seq_len", "warmup"};
    for (int i = 0; i < 4; i++) {
        strbuf_addf(&text, "  train.%s: [1", key[i]);
        for (int j = 2; j <= 12; j++)
            strbuf_addf(&text, ", %d", j);
        strbuf_add(&text, "]\n");
    }
    ck_assert_str_eq(refusal(text.text, 0, NULL),
                     "4:1: the grid has 20736 cells (20736 for each of 1 seed), more than 10000");
    strbuf_release(&text);
}

/* ---- the command line ---- */

TEST(words_address_the_top_level_too)
{
    const char *word[] = {"seeds=3", "name=other", "run.jobs=2", "run.checkpoint.every=7",
                          "report.metric=loss"};
    load(HEAD "defaults: {task: copy}\nrun: {threads: 2, timeout: 1.5h}\n", 5, word);
    ck_assert_int_eq(experiment.n_seed, 3);
    ck_assert_str_eq(experiment.name, "other");
    ck_assert_int_eq(experiment.run.jobs, 2);
    ck_assert_int_eq(experiment.run.threads, 2);
    ck_assert_int_eq(experiment.run.checkpoint_every, 7);
    ck_assert_double_eq(experiment.run.timeout, 5400);
    ck_assert_str_eq(experiment.report.metric, "loss");
}

TEST(a_word_that_names_an_axis_replaces_its_values)
{
    const char *schemes[] = {"position.scheme=[alibi, [learned, alibi]]"}, *size[] = {"size=M"};
    const struct point *p = loaded(4, GRID, 1, schemes);
    ck_assert_str_eq(p[0].label[0], "alibi");
    ck_assert_str_eq(p[2].label[0], "learned+alibi");
    p = loaded(3, GRID, 1, size);
    ck_assert_str_eq(text_at(p[0].tree, "model.d_model"), "128");
}

TEST(a_file_may_name_labels_that_the_command_line_left_out)
{
    const char *word[] = {"position.scheme=alibi"};
    loaded(2,
           GRID "  exclude: [{position.scheme: none, size: S}]\n"
                "overrides: [{when: {position.scheme: none}, set: {train.lr: 1}}]\n",
           1, word);
}

TEST(mistakes_on_the_command_line_are_placed_there)
{
    const struct {
        const char *word, *expected;
    } item[] = {
        {"train.stpes=3", "command line:2: unknown key 'train.stpes'; did you mean 'train.steps'?"},
        {"steps=3", "command line:2: unknown key 'steps'; did you mean 'train.steps'?"},
        {"sise=M", "command line:2: unknown key 'sise'; did you mean 'size'?"},
        {"size=L", "command line:2: axis 'size' has no value 'L'; it has: S, M"},
        {"run.jbos=3", "command line:2: unknown key 'jbos' in run; did you mean 'jobs'?"},
        {"run.jobs=0",
         "command line:2: 'jobs' in run must be a whole number from 1 to 1024, or auto, not 0"},
        {"seeds=none", "command line:2: 'seeds' must be how many, a list of whole numbers, "
                       "or {from: N, at_most: N, until: claims}"},
        {"quick", "command line:2: 'quick' is not of the form key=value"},
        {"train.lr=2", "command line:2: 'train.lr' is given twice"},
        {"defaults.train.lr=2", "command line:2: leave 'defaults.' out: write train.steps=10"},
        {"size=[]", "command line:2: axis 'size' has no values"},
    };
    for (size_t i = 0; i < sizeof(item) / sizeof(*item); i++) {
        const char *word[] = {"train.lr=1", item[i].word};
        ck_assert_str_eq(refusal(GRID, 2, word), item[i].expected);
    }
}

/* ---- places and rows ---- */

TEST(every_value_keeps_the_place_where_it_was_written)
{
    const struct point *p =
        loaded(6, GRID "overrides: [{when: {size: M}, set: {train.lr: 1}}]\n", 0, NULL);
    struct place axis = value_get_path(p[1].tree, "model.d_model")->at;
    struct place override = value_get_path(p[1].tree, "train.lr")->at;
    struct place given = value_get_path(p[0].tree, "train.lr")->at;
    ck_assert_int_eq(axis.line, 10);
    ck_assert_int_eq(override.line, 11);
    ck_assert_int_eq(given.line, 5);
    ck_assert_str_eq(given.file, file);
}

/* Without CELL_LATER, which plugins cannot set. */
static bool rows_are_sound(const peat_param *row, size_t bytes)
{
    peat_param copy[64];
    int n = 0;
    for (; row[n].key; n++) {
        copy[n] = row[n];
        copy[n].flags &= ~(uint32_t)CELL_LATER;
    }
    copy[n] = row[n];
    return params_check(copy, bytes, &error) == PEAT_OK;
}

TEST(the_tables_of_the_sections_are_sound)
{
    ck_assert_msg(rows_are_sound(model_rows, sizeof(struct model_config)), "%s", error.text);
    ck_assert_msg(rows_are_sound(attention_rows, sizeof(struct model_config)), "%s", error.text);
    ck_assert_msg(rows_are_sound(eval_rows, sizeof(struct eval_config)), "%s", error.text);
    /* warmup alone is both automatic and allowed to be 0 */
    ck_assert(!rows_are_sound(train_rows, sizeof(struct train_config)));
    ck_assert_ptr_nonnull(strstr(error.text, "'warmup'"));
}

/* The keys that cells had before there were later ones: none is added here. */
TEST(a_key_that_is_new_leaves_the_hashes_of_cells_as_they_were)
{
    static const struct {
        const peat_param *row;
        const char *first;
    } section[] = {
        {model_rows, " arch d_model n_layer n_head d_ff norm activation dropout tie_embeddings "
                     "embed_scale window "},
        {train_rows, " steps batch seq_len lr warmup schedule lr_min weight_decay beta1 beta2 eps "
                     "clip precision "},
        {eval_rows, " every lengths tokens "},
    };
    for (size_t i = 0; i < sizeof(section) / sizeof(*section); i++)
        for (const peat_param *row = section[i].row; row->key; row++) {
            char word[64];
            snprintf(word, sizeof(word), " %s ", row->key);
            ck_assert_msg(row->flags & CELL_LATER || strstr(section[i].first, word),
                          "'%s' is a new key: its row needs CELL_LATER", row->key);
        }
}

int main(void)
{
    return run_tests((struct tests){"experiment", set_up, tear_down});
}
