/* SPDX-License-Identifier: MIT */
/* Plans made with the real plugins: rows, costs, identities, matching and baselines. */
#include "experiment/plan.h"
#include "support/shell.h"
#include "support/support.h"

#define HEAD "version: 1\nname: t\n"
#define COPY                                                                                       \
    "defaults:\n"                                                                                  \
    "  task: copy\n"                                                                               \
    "  model: {d_model: 32, n_layer: 2, n_head: 2}\n"                                              \
    "  train: {steps: 20, batch: 4, seq_len: 32}\n"

static struct arena arena;
static struct error error;

/* One plan; several may live at once. */
struct made {
    struct experiment experiment;
    struct registry registry;
    struct plan plan;
};

static void set_up(void)
{
    shell_open();
    arena_init(&arena, "test", 1 << 18);
    error = (struct error){0};
    use_built_plugins();
}

static void tear_down(void)
{
    arena_release(&arena);
    shell_close();
}

static struct made *make_with(const char *text, int n, const char *const *word)
{
    struct made *m = ARENA_NEW(&arena, struct made);
    const char *path = arena_printf(&arena, "%s/exp.yaml", shell.dir);
    char *words[4];
    shell_write("exp.yaml", text);
    for (int i = 0; i < n; i++)
        words[i] = arena_strdup(&arena, word[i]);
    peat_status status = experiment_load(&m->experiment, &arena, path, n, words, NULL, &error);
    if (status == PEAT_OK)
        status = registry_init(&m->registry, &arena, NULL, &error);
    if (status == PEAT_OK)
        status = plan_make(&m->plan, &m->experiment, &m->registry, PLAN_SIZES, &arena, &error);
    ck_assert_msg(status == PEAT_OK, "%s", error.text);
    return m;
}

static const struct plan *make(const char *text)
{
    return &make_with(text, 0, NULL)->plan;
}

static const struct plan_cell *cell(const struct plan *p, const char *label)
{
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->cell[i].label, label) == 0)
            return &p->cell[i];
    ck_abort_msg("there is no cell '%s'", label);
    return NULL;
}

static const char *only_hash(const char *text)
{
    const struct plan *p = make(text);
    ck_assert_int_eq(p->n, 1);
    return p->cell[0].config.hash;
}

/* ---- rows ---- */

TEST(a_scheme_without_stream_has_one_row_whatever_it_is_crossed_with)
{
    const struct plan *p = make(HEAD COPY "matrix:\n"
                                          "  position.scheme: [none, sinusoidal, rotary]\n"
                                          "  position.combine: [sum, concat_split, gate_scalar]\n"
                                          "  train.lr: [1e-3, 2e-3]\n");
    ck_assert_int_eq(p->n, 2 + 6 + 2);
    ck_assert_str_eq(p->cell[0].label, "none.-.1e-3.s0");
    ck_assert_str_eq(p->cell[0].axis[1], "-");
    ck_assert(!p->cell[0].config.has_combine);
    ck_assert_str_eq(cell(p, "sinusoidal.gate_scalar.2e-3.s0")->combine, "gate_scalar");
    ck_assert_int_eq(p->dropped->n, 2);
    ck_assert_str_eq(p->dropped->item[0]->text,
                     "none x concat_split, gate_scalar: nothing to merge");
    ck_assert_str_eq(p->dropped->item[1]->text,
                     "rotary x concat_split, gate_scalar: nothing to merge");
}

TEST(a_parameter_of_the_combine_repeats_nothing_either)
{
    const struct plan *p = make(HEAD COPY "  position: {combine: concat_split}\n"
                                          "matrix:\n"
                                          "  position.scheme: [none, sinusoidal]\n"
                                          "  position.combine.d_pos: [4, 8]\n");
    ck_assert_int_eq(p->n, 3);
    ck_assert_str_eq(p->cell[0].label, "none.-.s0");
    ck_assert_str_eq(p->cell[0].name, "none.-.-.s0");
    ck_assert_str_eq(p->cell[2].label, "sinusoidal.concat_split-d_pos=8.s0");
    ck_assert_str_eq(p->cell[2].name, "sinusoidal.concat_split-d_pos=8.8.s0");
}

/* Directories and registrations keep the whole names. */
TEST(a_label_says_once_what_a_labelled_axis_sets)
{
    const struct plan *p = make(
        HEAD COPY "matrix:\n"
                  "  positions: {a: {position.scheme: sinusoidal}, b: {position.scheme: alibi}}\n"
                  "  arm: {sum: {position.combine: sum}}\n"
                  "  train.lr: [1e-3]\n");
    ck_assert_str_eq(p->cell[1].label, "b.sum.1e-3.s0");
    ck_assert_str_eq(p->cell[0].name, "sinusoidal.sum.a.sum.1e-3.s0");
    ck_assert(strncmp(p->cell[0].id, "sinusoidal.sum.a.sum.1e-3.s0-", 29) == 0);
    p = make(HEAD COPY "matrix:\n"
                       "  position.scheme: [sinusoidal, alibi]\n"
                       "  arm: {sum: {position.combine: sum}}\n");
    ck_assert_str_eq(p->cell[1].label, "alibi.sum.s0");
}

TEST(sum_is_accepted_with_any_scheme)
{
    const struct plan *p = make(HEAD COPY "  position: {scheme: alibi, combine: sum}\n");
    ck_assert_int_eq(p->n, 1);
    ck_assert_str_eq(p->cell[0].label, "alibi.-.s0");
    ck_assert_int_eq(p->dropped->n, 0);
}

TEST(cells_are_seed_major_and_seeds_share_all_but_their_identity)
{
    const struct plan *p = make(HEAD COPY "matrix: {position.scheme: [none, learned]}\n"
                                          "seeds: [7, 5]\n");
    ck_assert_int_eq(p->n, 4);
    ck_assert_str_eq(p->cell[1].label, "learned.sum.s7");
    ck_assert_str_eq(p->cell[3].label, "learned.sum.s5");
    ck_assert_int_eq(p->cell[3].index, 3);
    ck_assert_int_eq(p->cell[3].config.seed, 5);
    ck_assert_double_eq(p->cell[1].q[Q_PARAMS], p->cell[3].q[Q_PARAMS]);
    ck_assert_str_ne(p->cell[1].config.hash, p->cell[3].config.hash);
    const char *id = arena_printf(&arena, "learned.sum.s5-%.8s", p->cell[3].config.hash);
    ck_assert_str_eq(p->cell[3].id, id);
}

TEST(a_seed_of_a_grid_is_the_cell_of_that_seed_alone)
{
    const struct plan *both = make(HEAD COPY "seeds: [0, 5]\n");
    const struct plan *one = make(HEAD COPY "seeds: [5]\n");
    ck_assert_str_eq(both->cell[1].id, one->cell[0].id);
}

/* ---- costs ---- */

TEST(a_learned_table_is_what_a_cell_has_more_than_without_position)
{
    const struct plan *p = make(HEAD COPY "matrix: {position.scheme: [none, "
                                          "{plugin: learned, max_len: 100}, sinusoidal]}\n");
    ck_assert_double_eq(p->cell[0].q[Q_PARAMS_POSITIONAL], 0);
    ck_assert_double_eq(p->cell[1].q[Q_PARAMS_POSITIONAL], 100 * 32);
    ck_assert_double_eq(p->cell[1].q[Q_PARAMS] - p->cell[0].q[Q_PARAMS], 100 * 32);
    ck_assert_double_eq(p->cell[2].q[Q_PARAMS_POSITIONAL], 0);
    ck_assert_str_eq(p->cell[1].attention_path, "fused");
    ck_assert_ptr_nonnull(strstr(p->cell[1].injection, "learned"));
    ck_assert_double_gt(p->cell[1].q[Q_ACTIVATION_BYTES], 0);
}

TEST(the_injection_says_where_a_scheme_acts_across)
{
    const struct plan *p =
        make(HEAD "defaults: {task: {plugin: copy}, model: {arch: seq2seq, n_layer: 1}}\n"
                  "matrix: {position.scheme: [rotary, {plugin: rotary, where: {across: true}}, "
                  "{plugin: rotary, where: {across: only}}]}\n");
    ck_assert_ptr_null(strstr(p->cell[0].injection, "across"));
    ck_assert_ptr_nonnull(strstr(p->cell[1].injection, "; across two sequences too"));
    ck_assert_ptr_nonnull(strstr(p->cell[2].injection, "; across two sequences only"));
}

/* Per token and layer 2 * 12 d^2 in matrices and 4 T d in attention, forward; 2 d V for the head;
 * training is three times that. Norms and the like add little. */
TEST(flops_follow_the_usual_count)
{
    const struct plan *p = make(HEAD COPY);
    double d = 32, L = 2, T = 32, V = 13, usual = 3 * (L * (24 * d * d + 4 * T * d) + 2 * d * V);
    ck_assert_double_ge(p->cell[0].q[Q_FLOPS_PER_TOKEN], usual);
    ck_assert_double_le(p->cell[0].q[Q_FLOPS_PER_TOKEN], 1.2 * usual);
}

/* 64 sequences of 6 symbols are fed 14 tokens each, of which 7 are generated. */
TEST(evaluation_and_generation_are_counted)
{
    const char *words[] = {"eval.lengths=[6]", "eval.tokens=448", "eval.every=10"};
    const struct plan_cell *once = make_with(HEAD COPY, 2, words)->plan.cell;
    const struct plan_cell *twice = make_with(HEAD COPY, 3, words)->plan.cell;
    double forward = 64 * 14 * once->q[Q_FLOPS_PER_TOKEN] / 3;
    ck_assert_double_ge(once->q[Q_EVAL_FLOPS], 0.9 * forward);
    ck_assert_double_le(once->q[Q_EVAL_FLOPS], 1.1 * forward);
    ck_assert_double_gt(once->q[Q_GENERATE_FLOPS], 0);
    ck_assert_double_eq(twice->q[Q_EVAL_FLOPS], 2 * once->q[Q_EVAL_FLOPS]);
    ck_assert_double_eq(twice->q[Q_GENERATE_FLOPS], 2 * once->q[Q_GENERATE_FLOPS]);
    words[2] = "eval.test=0.5"; /* and so is the test part, once */
    const struct plan_cell *tested = make_with(HEAD COPY, 3, words)->plan.cell;
    ck_assert_double_eq(tested->q[Q_EVAL_FLOPS], twice->q[Q_EVAL_FLOPS]);
    ck_assert_double_eq(tested->q[Q_GENERATE_FLOPS], twice->q[Q_GENERATE_FLOPS]);
    ck_assert_double_eq(tested->q[Q_GENERATE_WORK], twice->q[Q_GENERATE_WORK]);
    double by_token = 6.0 / 14; /* of the rows: the first token comes with the prompt */
    ck_assert_double_eq_tol(once->q[Q_GENERATE_WORK] / once->q[Q_GENERATE_FLOPS],
                            1 + by_token * 4 / 64, 1e-9);
    ck_assert_double_gt(plan_work(twice, 0), plan_work(once, 0));
    ck_assert_double_gt(plan_work(once, 0), plan_training_work(once, 0));
}

/* The composed path keeps tensors of all pairs: at these sizes a step of cope takes more than twice
 * as long as one of none, with 7 % more FLOPs (docs/performance.md). */
TEST(activations_take_time_beside_their_flops)
{
    const struct plan *p = make(HEAD "defaults:\n"
                                     "  task: copy\n"
                                     "  model: {d_model: 64, n_layer: 2, n_head: 4}\n"
                                     "  train: {steps: 20, batch: 4, seq_len: 256}\n"
                                     "matrix: {position.scheme: [none, rotary, cope]}\n"
                                     "seeds: 1\n");
    const struct plan_cell *none = &p->cell[0], *rotary = &p->cell[1], *cope = &p->cell[2];
    ck_assert_str_eq(cope->attention_path, "composed");
    ck_assert_double_lt(plan_training(cope, 0), 1.5 * plan_training(none, 0));
    ck_assert_double_gt(plan_training_work(cope, 0), 2 * plan_training_work(none, 0));
    ck_assert_double_lt(plan_training_work(rotary, 0), 1.2 * plan_training_work(none, 0));
    ck_assert_double_gt(plan_training_work(none, 0), plan_training(none, 0));
    ck_assert_double_gt(plan_work(none, 0), plan_training_work(none, 0));
}

TEST(the_command_says_what_evaluation_costs_and_trains_nothing)
{
    shell_write("exp.yaml", HEAD COPY);
    shell_expect(0, "peat plan exp.yaml | grep -q 'FLOP of training, .*FLOP of evaluation, at most "
                    ".*FLOP of generation$'");
}

/* Two schemes are two kinds, whatever their rates, seeds and lengths. */
TEST(the_command_measures_each_kind_of_cell)
{
    shell_write("exp.yaml", HEAD COPY "matrix:\n"
                                      "  position.scheme: [none, learned]\n"
                                      "  train.lr: [1e-3, 2e-3]\n"
                                      "  train.steps: [20, 40]\n"
                                      "seeds: 3\n");
    shell_expect(0, "mkdir tmp && TMPDIR=$PWD/tmp peat plan exp.yaml --measure >out 2>err && "
                    "grep -q '; about .* here, from 12 steps and an evaluation of 2 kinds of "
                    "cell$' out && grep -q '(2 of 2 kinds of cell)$' err && test -z \"$(ls tmp)\"");
}

TEST(the_command_shows_what_the_data_begin_with)
{
    char text[2000];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memcpy(text, "To be,\nor not to be", 19);
    shell_write("words.txt", text);
    shell_write("exp.yaml", HEAD "defaults:\n  task: {plugin: text, path: words.txt}\n");
    shell_expect(
        0, "peat plan exp.yaml | grep \"^training data begin with: .*: 'To be,.nor not to'$\"");
}

TEST(matched_cells_cost_the_same_within_tolerance)
{
    const struct plan *p =
        make(HEAD COPY "  position: {scheme: sinusoidal}\n"
                       "matrix: {position.combine: [sum, concat_project, concat_wide]}\n"
                       "match: {to: {position.combine: sum}, tolerance: 0.02}\n");
    const struct plan_cell *sum = &p->cell[0];
    ck_assert_ptr_null(sum->matched);
    ck_assert_int_eq(sum->config.model.d_ff, 128);
    for (int i = 1; i < 3; i++) {
        const struct plan_cell *c = &p->cell[i];
        ck_assert_ptr_nonnull(c->matched);
        ck_assert_int_lt(c->config.model.d_ff, 128);
        ck_assert_double_le(fabs(c->q[Q_PARAMS] - sum->q[Q_PARAMS]), sum->q[Q_PARAMS] / 50);
        const char *size =
            arena_printf(&arena, "model.d_ff = %d (params ", (int)c->config.model.d_ff);
        ck_assert_int_eq(strncmp(c->matched, size, strlen(size)), 0);
    }
}

/* ---- baselines ---- */

TEST(a_row_without_combine_is_the_baseline_of_every_combine)
{
    const struct plan *p = make(HEAD COPY "matrix:\n"
                                          "  position.scheme: [none, sinusoidal]\n"
                                          "  position.combine: [sum, concat_split]\n"
                                          "  train.lr: [1e-3, 2e-3]\n"
                                          "seeds: 2\n"
                                          "report: {baseline: {position.scheme: none}}\n");
    for (int i = 0; i < p->n; i++) {
        const struct plan_cell *base = &p->cell[p->cell[i].baseline];
        ck_assert_str_eq(base->scheme, "none");
        ck_assert_str_eq(base->axis[2], p->cell[i].axis[2]);
        ck_assert_int_eq(base->seed, p->cell[i].seed);
    }
}

TEST(without_a_baseline_nothing_is_compared)
{
    ck_assert_int_eq(make(HEAD COPY)->cell[0].baseline, -1);
}

/* ---- identity ---- */

TEST(the_hash_is_of_what_is_trained_and_of_nothing_else)
{
    const char *plain = only_hash(HEAD COPY);
    const char *same[] = {
        "version: 1\nname: other\ndescription: x\n" COPY,
        HEAD COPY "  eval: {every: 5, lengths: [4, 8]}\nrun: {threads: 2}\n",
        HEAD COPY "report: {metric: loss, goal: min}\n",
        HEAD "defaults:\n  train: {seq_len: 32, batch: 4, steps: 20, warmup: 2, lr: 0.001}\n"
             "  task: {plugin: task/copy}\n  position: {combine: sum, scheme: {plugin: none}}\n"
             "  model: {n_head: 2, n_layer: 2, d_model: 32.0, d_ff: 128, attention: {}}\n",
        HEAD "defaults: {task: copy, model: {d_model: 32}, train: {steps: 20, batch: 4}}\n"
             "matrix: {train.seq_len: [32], size: {S: {model.n_layer: 2, model.n_head: 2}}}\n",
    };
    const char *different[] = {
        HEAD COPY "seeds: [1]\n",
        HEAD COPY "  position: {scheme: alibi}\n",
        HEAD COPY "  position: {scheme: sinusoidal}\n",
        HEAD "defaults: {task: copy, model: {d_model: 32, n_layer: 2, n_head: 2, norm: rms}, "
             "train: {steps: 20, batch: 4, seq_len: 32}}\n",
        HEAD "defaults: {task: {plugin: copy, symbols: 11}, model: {d_model: 32, n_layer: 2, "
             "n_head: 2}, train: {steps: 20, batch: 4, seq_len: 32}}\n",
        HEAD "defaults: {task: copy, model: {d_model: 32, n_layer: 2, n_head: 2}, train: {steps: "
             "20, batch: 4, seq_len: 32, warmup: 0}}\n",
    };
    for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
        ck_assert_msg(strcmp(only_hash(same[i]), plain) == 0, "differs: %s", same[i]);
    for (size_t i = 0; i < sizeof(different) / sizeof(*different); i++)
        ck_assert_msg(strcmp(only_hash(different[i]), plain) != 0, "equals: %s", different[i]);
}

TEST(where_a_scheme_acts_is_part_of_the_identity)
{
    const char *all = only_hash(HEAD COPY "  position: {scheme: alibi}\n");
    const char *some =
        only_hash(HEAD COPY "  position: {scheme: {plugin: alibi, where: {layers: 1}}}\n");
    const char *heads =
        only_hash(HEAD COPY "  position: {scheme: {plugin: alibi, where: {heads: 1}}}\n");
    ck_assert_str_ne(all, some);
    ck_assert_str_ne(some, heads);
    ck_assert_str_eq(only_hash(HEAD COPY "  position: {scheme: {plugin: sinusoidal, at: input, "
                                         "share: model}}\n"),
                     only_hash(HEAD COPY "  position: {scheme: sinusoidal}\n"));
}

static const char *text_hash(const char *path)
{
    return only_hash(arena_printf(&arena,
                                  HEAD "defaults:\n  task: {plugin: text, path: %s}\n"
                                       "  model: {d_model: 32, n_layer: 2, n_head: 2}\n"
                                       "  train: {seq_len: 16, batch: 2}\n",
                                  path));
}

TEST(data_counts_by_its_content_and_is_found_beside_the_file)
{
    char text[2000];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    const char *absolute = arena_printf(&arena, "%s/two.txt", shell.dir);
    shell_write("one.txt", text);
    shell_write("two.txt", text);
    text[5] = 'b';
    shell_write("three.txt", text);
    ck_assert_str_eq(text_hash("one.txt"), text_hash("two.txt"));
    ck_assert_str_eq(text_hash("one.txt"), text_hash(absolute));
    ck_assert_str_ne(text_hash("one.txt"), text_hash("three.txt"));
}

TEST(a_plugin_named_by_its_path_counts_by_its_file_too)
{
    struct made *m = make_with(HEAD COPY "  position: {scheme: alibi}\n", 0, NULL);
    const char *path = m->plan.cell[0].config.scheme[0].plugin->path;
    const char *text = arena_printf(&arena, HEAD COPY "  position: {scheme: {plugin: %s}}\n", path);
    const struct plan *p = make(text);
    ck_assert_str_ne(p->cell[0].config.hash, m->plan.cell[0].config.hash);
    const struct value *sha =
        value_get(value_get_path(p->cell[0].config.identity, "position.scheme")->item[0], "sha256");
    ck_assert_str_eq(sha->text, p->cell[0].config.scheme[0].plugin->sha256);
}

/* ---- files ---- */

static struct value *through_json(const struct value *v)
{
    struct strbuf text;
    strbuf_init(&text);
    json_print(v, JSON_INDENTED, &text);
    struct value *read = json_parse(&arena, text.text, text.n, "config.json", &error);
    ck_assert_msg(read, "%s", error.text);
    strbuf_release(&text);
    return read;
}

TEST(a_cell_reads_the_same_from_its_own_config)
{
    struct made *m = make_with(
        HEAD COPY "  eval: {lengths: [8, 4], tokens: all}\n"
                  "matrix:\n"
                  "  position.scheme: [none, learned, {plugin: sinusoidal, at: residual},\n"
                  "    [{plugin: rotary, fraction: 0.5, where: {heads: [0, 0], layers: [1]}}, "
                  "{plugin: learned, share: layer}]]\n"
                  "  model.attention: [{path: composed}, {scale: 0.3}, {scale: sqrt}]\n"
                  "  position.combine: [sum, concat_project]\n",
        0, NULL);
    ck_assert_int_eq(m->plan.n, 21);
    for (int i = 0; i < m->plan.n; i++) {
        const struct plan_cell *c = &m->plan.cell[i];
        struct value *config = through_json(plan_cell_value(&m->plan, c, &arena));
        struct cell_config read;
        struct data_files files = {.a = &arena, .keep_most = SIZE_MAX};
        bool dropped = true;
        peat_status status = cell_config_read(&read, config, c->seed, &m->registry, &files, &arena,
                                              &dropped, &error);
        ck_assert_msg(status == PEAT_OK, "%s: %s", c->label, error.text);
        ck_assert(!dropped);
        ck_assert_str_eq(read.hash, c->config.hash);
        ck_assert(value_equal(read.resolved, c->config.resolved));
        ck_assert_int_eq(read.eval.tokens, 0);
        ck_assert_double_eq(read.eval.lengths.item[0], 4);
    }
}

TEST(the_plan_lists_axes_cells_and_what_was_left_out)
{
    const struct plan *p = make(HEAD COPY "matrix:\n"
                                          "  position.scheme: [none, learned]\n"
                                          "  position.combine: [sum, multiply]\n"
                                          "seeds: 2\n"
                                          "report: {baseline: {position.scheme: none}}\n");
    const struct value *plan = through_json(plan_value(p, &arena));
    const struct value *combine = value_get(plan, "axes")->item[1];
    ck_assert_str_eq(value_get(combine, "key")->text, "position.combine");
    ck_assert_str_eq(value_label(&arena, NULL, value_get(combine, "labels")), "sum+multiply+-");
    ck_assert_int_eq(value_get(plan, "cells")->n, 6);
    const struct value *last = value_get(plan, "cells")->item[5];
    ck_assert_str_eq(value_get(last, "label")->text, "learned.multiply.s1");
    ck_assert_str_eq(value_get(value_get(last, "axes"), "position.scheme")->text, "learned");
    ck_assert_int_eq(value_get(last, "baseline")->integer, 3);
    ck_assert_str_eq(value_get(plan, "dropped")->item[0]->text,
                     "none x multiply: nothing to merge");
    ck_assert_str_eq(value_get_path(plan, "report.baseline")->item[0]->text, "none");
}

TEST(the_command_prints_one_line_for_each_cell)
{
    shell_write("exp.yaml", HEAD COPY "matrix: {position.scheme: [none, alibi]}\nseeds: 3\n");
    shell_expect(0, "peat plan exp.yaml --injection");
    shell_expect(0, "peat plan exp.yaml seeds=2 --ids >ids && "
                    "head -n 1 ids | grep '^none\\.-\\.s0-'");
    shell_prints(0, "4", "wc -l <ids");
    shell_expect(0, "peat plan exp.yaml --json");
    const struct value *plan =
        json_parse(&arena, shell.printed.text, shell.printed.n, "json", &error);
    ck_assert_msg(plan, "%s", error.text);
    ck_assert_str_eq(value_get(value_get(plan, "cells")->item[0], "state")->text, "todo");
}

/* A vocabulary of 21 rows of 32 tokens: sizes as drawn, within a tenth of the deviations. */
static void assert_ratio(const struct plan *p, const char *label, double expected)
{
    double ratio = cell(p, label)->q[Q_INPUT_RATIO_START];
    ck_assert_msg(ratio > 0.9 * expected && ratio < 1.1 * expected, "%s: %g, expected %g", label,
                  ratio, expected);
}

/* Tokens 1 after sqrt(d_model); sines and cosines sqrt(1/2); a concatenation gives 24 and 8 of 32
 * places. */
TEST(the_ratio_of_tokens_to_positions_is_that_of_what_is_merged)
{
    const struct plan *p =
        make(HEAD COPY "matrix:\n"
                       "  position.scheme: [none, learned, sinusoidal, rotary]\n"
                       "  position.combine:\n"
                       "    - sum\n"
                       "    - {plugin: sum, token_scale: 4, position_scale: 0.5}\n"
                       "    - {plugin: concat_split, d_pos: 8}\n"
                       "    - multiply\n");
    ck_assert(isnan(cell(p, "none.-.s0")->q[Q_INPUT_RATIO_START]));
    ck_assert(isnan(cell(p, "rotary.-.s0")->q[Q_INPUT_RATIO_START]));
    ck_assert(isnan(cell(p, "sinusoidal.multiply.s0")->q[Q_INPUT_RATIO_START]));
    assert_ratio(p, "learned.sum.s0", 1.0);
    assert_ratio(p, "sinusoidal.sum.s0", sqrt(2.0));
    assert_ratio(p, "sinusoidal.sum-token_scale=4-position_scale=0.5.s0", 8.0 * sqrt(2.0));
    assert_ratio(p, "sinusoidal.concat_split-d_pos=8.s0", sqrt(24.0 / (8.0 * 0.5)));
}

TEST(learned_positions_keep_up_with_tokens_whatever_their_factor)
{
    const struct plan *p = make(HEAD COPY "matrix:\n"
                                          "  position.scheme: [learned, {plugin: learned, "
                                          "init_std: 0.02, scale: 1}]\n"
                                          "  position.combine: [sum]\n"
                                          "  model.embed_scale: [0.5, 20]\n");
    assert_ratio(p, "learned.sum.0.5.s0", 1.0);
    assert_ratio(p, "learned.sum.20.s0", 1.0);
    assert_ratio(p, "learned-init_std=0.02-scale=1.sum.20.s0", 20.0 / sqrt(32.0) / 0.02);
}

TEST(positions_far_smaller_than_tokens_are_warned_of)
{
    shell_write("exp.yaml",
                HEAD COPY "matrix:\n"
                          "  position.scheme: [sinusoidal]\n"
                          "  position.combine: [sum, {plugin: sum, position_scale: 0.05}]\n");
    shell_prints(0, "1", "peat plan exp.yaml >said; grep -c ^warning said");
    shell_expect(0, "grep '^warning: sinusoidal.sum-position_scale=0.05.s0: tokens enter' said");
}

TEST(rows_that_are_one_model_are_warned_of)
{
    shell_write("exp.yaml", HEAD COPY "matrix:\n  position.scheme: [alibi, rotary, "
                                      "{plugin: rotary, base: 10000}]\n");
    static const char *const verb[] = {"plan", "validate"};
    for (int i = 0; i < 2; i++) {
        shell_prints(0, "1", "peat %s exp.yaml >said; grep -c ^warning said", verb[i]);
        shell_expect(0,
                     "grep '^warning: rotary-base=10000.-.s0: the same model as rotary.-.s0' said");
    }
}

/* A row in which the setting acts ends the warning. */
TEST(a_setting_without_effect_in_any_row_is_warned_of)
{
    static const struct {
        const char *matrix, *said;
    } row[] = {
        {"  model.pool: [cls, mean]\n", "model.pool has no effect in any row: it needs model.head"},
        {"  model.cls_position: [own]\n", "model.cls_position has no effect in any row: "},
        {"  model.encoder_layers: [3]\n", "model.encoder_layers has no effect in any row: "},
        {"  model.conv_width: [7]\n", "model.conv_width has no effect in any row: it needs "},
        {"  model.conv_width: [7]\n  model.mixer: [attention, conv]\n", NULL},
        {"  train.lr_min: [0]\n  train.schedule: [constant]\n", "train.lr_min has no effect in"},
        {"  train.lr_min: [0]\n  train.schedule: [constant, linear]\n", NULL},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        shell_write("exp.yaml", arena_printf(&arena, HEAD COPY "matrix:\n%s", row[i].matrix));
        shell_expect(0,
                     "peat plan exp.yaml position.scheme=none >said && "
                     "test $(grep -c 'has no effect' said) = %d && grep -q '%s' said",
                     row[i].said != NULL, row[i].said ? row[i].said : "cell");
    }
}

/* ---- points that are refused ---- */

#define GRID(task, model, matrix)                                                                  \
    HEAD "defaults:\n"                                                                             \
         "  task: " task "\n"                                                                      \
         "  model: {d_model: 32, n_layer: 2, n_head: 4" model "}\n"                                \
         "  train: {steps: 20, batch: 4, seq_len: 32}\n"                                           \
         "matrix:\n" matrix
#define RESET  "  position.scheme: [none, {plugin: tupe, reset: true}]\n"
#define UNREAD "tupe.theta_query' gets no gradient: nothing that is trained depends on it"
#define MATCH                                                                                      \
    "match: {by: params, adjust: model.d_model, tolerance: 0.9, to: {position.combine: sum}}\n"

/* What is planned of a grid, and why the rest is not: each for one reason. */
static const struct {
    const char *grid;
    int cells, skipped;
    const char *reason;
} refused[] = {
    {GRID("copy", "", RESET), 2, 0, NULL},
    {GRID("copy", ", arch: seq2seq", RESET), 2, 0, NULL},
    {GRID("{plugin: images, side: 4}", ", arch: encoder, head: class, input: patches",
          "  model.cls_position: [first, own, none]\n" RESET),
     4, 2, UNREAD},
    {GRID("{plugin: images, side: 4}", ", arch: encoder, head: class, input: patches, pool: mean",
          RESET),
     1, 1, UNREAD},
    {GRID("copy", "",
          "  position.scheme: [[sinusoidal, learned, {plugin: learned, at: attn_qk}]]\n"
          "  position.combine: [sum, concat_project, film, gate_vector]\n"),
     2, 2,
     "has tensors for all 3 streams of the input, so the stream of 'learned' can only enter at the "
     "input"},
    {GRID("copy", "",
          "  position.scheme: [forgetting, [forgetting, {plugin: alibi, where: {heads: [0, "
          "1]}}]]\n"),
     1, 1,
     "scheme 'forgetting' has tensors per head, and where.heads of another scheme splits its "
     "heads"},
    {GRID("copy", "",
          "  position.scheme: [none, alibi, shaw]\n  model.attention.path: [auto, fused]\n"),
     5, 1, "model.attention.path is fused, but scheme 'shaw' works on"},
    {GRID("copy", "", "  model.mixer: [attention, conv]\n  model.window: [0, 8]\n"), 3, 1,
     "'window' in model is for mixer: attention, and mixer is conv"},
    {GRID("copy", "", "  model.n_head: [3, 4]\n  position.scheme: [none, alibi]\n"), 2, 2,
     "d_model 32 is not divisible by n_head 3"},
    {GRID("copy", "",
          "  model.n_layer: [1, 2]\n"
          "  position.scheme: [none, {plugin: rotary, where: {layers: [1]}}]\n"),
     3, 1, "'where.layers' must hold layers from 0 to 0"},
    {GRID("copy", ", freeze: [position.*]", "  position.scheme: [none, learned]\n"), 1, 1,
     "no parameter of the model is called 'position.*'"},
    {GRID("copy", "",
          "  position.scheme: [[learned, {plugin: liere, block: 8}]]\n"
          "  position.combine: [sum, gate_vector]\n") MATCH,
     1, 1, "a head width of 4 does not split into blocks of 8"},
};

LOOP_TEST(a_point_that_is_refused_costs_only_itself, sizeof(refused) / sizeof(*refused))
{
    const struct plan *p = make(refused[_i].grid);
    ck_assert_int_eq(p->skipped->n, refused[_i].skipped);
    for (int i = 0; i < p->skipped->n; i++)
        ck_assert_msg(strstr(json_get_text(p->skipped->item[i], "reason"), refused[_i].reason),
                      "%s: %s", json_get_text(p->skipped->item[i], "label"),
                      json_get_text(p->skipped->item[i], "reason"));
    ck_assert_int_eq(p->n, refused[_i].cells);
}

/* What is wrong whatever else the point has is a mistake of the file. */
TEST(validate_names_what_is_skipped_and_what_does_not_fit)
{
    shell_write("exp.yaml", HEAD COPY "matrix:\n  position.scheme: [none, "
                                      "{plugin: rotary, where: {layers: [99]}}]\n");
    shell_expect(0, "peat validate exp.yaml | grep -q '^skipped: rotary.*where.layers' && "
                    "! peat validate exp.yaml | grep GiB && "
                    "peat validate exp.yaml model.d_model=65536 | "
                    "grep -q '^warning: .* GiB of memory, and .* GiB are free here$'");
}

TEST(a_mistake_at_one_point_is_not_a_refusal)
{
    static const char *const mistake[] = {
        "  position.scheme: [none, {plugin: rotary, where: {layers: [x]}}]\n",
        "  position.scheme: [none, {plugin: rotary, where: {heads: [1, 0]}}]\n",
        "  position.scheme: [none, {plugin: rotary, bass: 2}]\n"};
    for (size_t i = 0; i < sizeof(mistake) / sizeof(*mistake); i++) {
        struct made *m = ARENA_NEW(&arena, struct made);
        const char *text = arena_printf(&arena, "%s%s", GRID("copy", "", ""), mistake[i]);
        const char *path = arena_printf(&arena, "%s/exp.yaml", shell.dir);
        shell_write("exp.yaml", text);
        ck_assert_int_eq(experiment_load(&m->experiment, &arena, path, 0, NULL, NULL, &error),
                         PEAT_OK);
        ck_assert_int_eq(registry_init(&m->registry, &arena, NULL, &error), PEAT_OK);
        ck_assert_int_eq(
            plan_make(&m->plan, &m->experiment, &m->registry, PLAN_SIZES, &arena, &error),
            PEAT_INVALID);
    }
}

int main(void)
{
    return run_tests((struct tests){"plan", set_up, tear_down, .seconds = 60, .needs = "PEAT"});
}
