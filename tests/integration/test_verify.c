/* SPDX-License-Identifier: MIT */
/* test_verify.c: peat verify finds what is not as it was, and one hash stands for equal bits. */
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] = "version: 1\n"
                                 "name: verified\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 8, n_layer: 1, n_head: 1, d_ff: 8}\n"
                                 "  train: {steps: 10, batch: 2, seq_len: 8}\n"
                                 "  eval: {every: 5, lengths: [8], tokens: 64}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, rotary]\n"
                                 "seeds: 2\n";

static void open_run(void)
{
    shell_open();
    shell_write("e.yaml", experiment);
    shell_expect(0, "seq 1000 >text.txt && peat run e.yaml -q -o r && cp -r r whole");
}

/* Edits a file and takes its checksum off: it then counts as made by hand. */
#define FORGE "sed -i -z 's/,\\n  \"check\": \"[0-9a-f]*\"//; s/"

TEST(whole_directory_has_no_problem_and_a_hash)
{
    shell_says(0, "r: 4 cells, 4 finished, 0 problems\nhash ", "peat verify r");
    shell_says(0, "\"problems\": []", "peat verify r --json");
    shell_expect(0, "hash=$(peat verify r | sed -n 's/^hash //p') && [ ${#hash} = 64 ] && "
                    "peat results r --format json | grep $hash && peat report r | grep -q $hash && "
                    "peat verify r --json | grep $hash");
}

TEST(each_damage_is_a_line_with_its_cell)
{
    static const struct {
        const char *command, *says;
    } row[] = {
        {"printf x | dd of=$(ls none*s0*/ckpt/*/model.safetensors) bs=1 seek=3000 conv=notrunc",
         "problem: none.-.s0: ckpt/step-00000010/model.safetensors is not the one"},
        {"rm -r none*s0*/ckpt",
         "problem: none.-.s0: ckpt/step-00000010/model.safetensors is missing"},
        {"cp -r rotary*s0*/ckpt none*s0*",
         "problem: none.-.s0: its checkpoint belongs to another cell"},
        {"truncate -s -9 none*s0*/metrics.jsonl", "metrics.jsonl is not the one"},
        {"rm none*s0*/meta.json", "meta.json is missing"},
        {FORGE "\"d_ff\": 8/\"d_ff\": 16/' none*s0*/config.json",
         "problem: none.-.s0: the settings in config.json are not those of its hash"},
        {FORGE "\"label\": \"[^\"]*/\"label\": \"x/' none*s0*/config.json",
         "plan.json and config.json do not belong to one cell: their values of label differ"},
        {FORGE "\"params\": [0-9]*/\"params\": 7/' none*s0*/result.json",
         "config.json and result.json do not belong to one cell: their values of params differ"},
        {"seq 999 >../../text.txt", "text.txt' differs from the file that it was made with"},
        {"sed -i 's/steps: 10/steps: 11/' ../resolved.yaml",
         "problem: resolved.yaml has changed since plan.json was written"},
        {"rm ../resolved.yaml", "problem: resolved.yaml is missing"},
        {"echo >>../experiment.yaml",
         "problem: experiment.yaml has changed since plan.json was written"},
        {FORGE "x/x/' ../plan.json", "problem: plan.json has no check: it was made or changed"},
        {FORGE "x/x/' none*s0*/meta.json", "problem: none.-.s0: meta.json has no check"},
        {FORGE "x/x/' none*s0*/result.json", "problem: none.-.s0: result.json has no check"},
        {"for c in none*s0*; do echo '{}' >$c/stale.json; done",
         "problem: none.-.s0: stale.json has no check"},
        {"for c in none*s0*; do echo '{\"check\": \"1\"}' >$c/diagnose.json; done",
         "diagnose.json' is damaged"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        shell_expect(0, "rm -rf r && cp -r whole r && cd r/cells && %s", row[i].command);
        shell_says(1, row[i].says, "peat verify r");
        assert_printed("hash none: there are problems");
    }
}

#define HASH "peat verify %s | sed -n 's/^hash //p'"

/* ---- forged by someone who knows how files are sealed ---- */

struct forgery {
    struct arena a;
    char dir[256]; /* of the cell */
    struct json result;
};

static void open_forgery(struct forgery *f)
{
    shell_expect(0, "rm -rf r && cp -r whole r && ls -d r/cells/none*s0* | tr -d '\\n'");
    snprintf(f->dir, sizeof(f->dir), "%s/%s", shell.dir, shell.printed.text);
    arena_init(&f->a, "forgery", 1 << 16);
    f->result.a = &f->a;
    ck_assert_int_eq(json_read_file(f->dir, "result.json", &f->a, &f->result.v, NULL), PEAT_OK);
}

static struct json measure_of(const struct forgery *f, int i)
{
    return (struct json){f->result.a, value_get(f->result.v, "measures")->item[i]};
}

/* With new seals for the curve and for the result. */
static void close_forgery(struct forgery *f, const char *problem)
{
    char hex[HASH_HEX], *path = path_join(f->dir, "metrics.jsonl"), *text;
    size_t n;
    ck_assert_int_eq(file_read(path, 0, &text, &n, NULL), PEAT_OK);
    hash_bytes(text, n, hex);
    struct json sealed = {&f->a, value_get_path(f->result.v, "files")->item[0]};
    json_put_int(sealed, "bytes", (int64_t)n);
    json_put_text(sealed, "sha256", hex);
    ck_assert_int_eq(json_write_file(f->dir, "result.json", f->result.v, NULL), PEAT_OK);
    shell_says(1, problem, "peat verify r");
    free(text);
    free(path);
    arena_release(&f->a);
}

TEST(value_that_the_curve_contradicts_is_a_problem)
{
    struct forgery f;
    open_forgery(&f);
    json_put_real(measure_of(&f, 0), "value", 5.5);
    close_forgery(&f, "problem: none.-.s0: bpb (valid, length 8) is 5.5 in result.json, and ");
    open_forgery(&f);
    json_put_int(measure_of(&f, 0), "length", 9);
    close_forgery(&f, "problem: none.-.s0: bpb (valid, length 9) of step 10 is not in metrics");
    open_forgery(&f);
    value_get(f.result.v, "measures")->n--;
    value_get(f.result.v, "measures")->item++;
    close_forgery(&f, "its last evaluation has 3 values in metrics.jsonl, and 2 in result.json");
    open_forgery(&f);
    json_put_int(f.result, "steps", 20);
    close_forgery(&f, "metrics.jsonl ends at step 10, and its result is of step 20");
    assert_printed("its result is of step 20, and it was to be trained for 10");
    open_forgery(&f);
    json_put_text(f.result, "state", "diverged");
    close_forgery(&f, "its result does not say whether it is done or diverged");
    open_forgery(&f);
    json_put_bool(f.result, "stopped", true);
    close_forgery(&f, "its result says that it stopped early, and it has no train.patience");
}

TEST(curve_is_in_order_and_that_of_the_checkpoint)
{
    static const char *const row[][2] = {
        {"sed -i '2{h;d};$G' $f", "after one of step "},
        {"sed -i '2p' $f", "line 3 of metrics.jsonl repeats bpb (valid, length 8) of step 5"},
        {"sed -i 's/,\"check\":[^}]*//' $f", "line 1 of metrics.jsonl has no check"},
        {"sed -i 's/\"lr\":/\"lr\":1/' $f", "line 1 of metrics.jsonl is damaged"},
        {"sed -i '$d' $f", "of step 10 is not in metrics.jsonl"},
        {"sed -i 1d $f", "metrics.jsonl is not the curve of its checkpoint"}};
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        struct forgery f;
        open_forgery(&f);
        shell_expect(0, "f=$(ls r/cells/none*s0*/metrics.jsonl) && %s", row[i][0]);
        close_forgery(&f, row[i][1]);
    }
}

/* An empty text among the settings of a task is a file that is not named, or a text. */
TEST(settings_have_their_hash_without_plugins_and_data)
{
    static const char *const task[] = {"{plugin: ./images.so}", "{plugin: ./text.so, path: t.txt}"};
    shell_expect(0, "cp \"$PEAT_BUILD\"/lib/peat/plugins-*/task/images.so "
                    "\"$PEAT_BUILD\"/lib/peat/plugins-*/task/text.so . && seq 1000 >t.txt");
    for (size_t i = 0; i < sizeof(task) / sizeof(*task); i++) {
        shell_expect(0,
                     "rm -rf o && peat run e.yaml -q -o o 'task=%s' train.seq_len=16 "
                     "eval.lengths=auto",
                     task[i]);
        shell_expect(0, "mkdir -p away && mv *.so t.txt away");
        shell_says(0, " 0 problems", "peat verify o");
        assert_printed(".so', which is not here");
        shell_expect(0, FORGE "\"d_ff\": 8/\"d_ff\": 16/' o/cells/none*s0*/config.json");
        shell_says(1, "none.-.s0: the settings in config.json are not those", "peat verify o");
        shell_expect(0, "mv away/* .");
    }
}

TEST(result_that_its_checkpoint_contradicts_is_a_problem)
{
    struct forgery f;
    open_forgery(&f);
    json_put_int(json_put_map(f.result, "untrained"), "pos", 3);
    struct json state = {&f.a, NULL};
    const char *dir = arena_printf(&f.a, "%s/ckpt/step-00000010", f.dir);
    ck_assert_int_eq(json_read_file(dir, "state.json", &f.a, &state.v, NULL), PEAT_OK);
    struct json identity = {&f.a, value_get(state.v, "identity")};
    json_put_int(json_put_map(identity, "untrained"), "pos", 4);
    json_put_real(identity, "last_loss", 1.0);
    json_add(json_put_list(identity, "drift"), value_text(&f.a, NOWHERE, "what"));
    struct json diverged = json_put_map(state, "diverged");
    json_put_int(diverged, "step", 10);
    json_put_text(diverged, "what", "it grew");
    ck_assert_int_eq(json_write_file(dir, "state.json", state.v, NULL), PEAT_OK);
    close_forgery(&f, "result.json and its checkpoint differ in which rows were never trained");
    assert_printed("differ in whether the cell diverged");
    assert_printed("differ in the last training loss");
    assert_printed("its checkpoint drifted, and result.json does not say so");
}

/* A table of positions reaches to the longest length, which the second plan leaves out. */
TEST(what_a_later_plan_leaves_out_is_no_problem)
{
    shell_expect(0, "peat run e.yaml -q -o f seeds=1 position.scheme=learned eval.lengths=[8,16] "
                    "&& peat run e.yaml -q -o f seeds=1 position.scheme=learned");
    shell_says(0, "1 finished, 0 problems", "peat verify f");
    shell_expect(0, "seq 1100 >text.txt && peat run e.yaml -q -o r");
    shell_says(0, "not checked: data and plugins of cells of earlier plans", "peat verify r");
    assert_printed("4 finished, 0 problems");
}

#define VALUES "peat results %s -f csv --columns label,seed,metric,length,value"

TEST(other_targets_are_scored_anew_and_compared_with_nothing)
{
    shell_expect(0, "peat run e.yaml -q -o t eval.tokens=32 && cp -r t before && "
                    "peat run e.yaml -q -o t");
    shell_expect(0, VALUES " >a && " VALUES " >b && " VALUES " >c && cmp a b && ! cmp -s a c", "r",
                 "t", "before");
    shell_says(0, "0 problems", "peat verify t");
    shell_says(0, "different numbers of scored targets",
               "peat run e.yaml -q -o p 'eval.tokens=[32,64]' 'report={baseline: {eval.tokens: "
               "32}}'");
}

TEST(one_line_can_be_quoted)
{
    shell_expect(0,
                 "peat verify r | grep -x \"quote: 'verified', SHA-256 $(" HASH "): 4 of 4 cells, "
                 "registration $(peat status r | sed -n 's/^registered: .*SHA-256 //p' | cut -c "
                 "-12) before the first step, peat [0-9.]*, scheme none [0-9.]*, scheme rotary "
                 "[0-9.]*, task text [0-9.]*\"",
                 "r");
    shell_says(0, "\"quote\": \"'verified', SHA-256 ", "peat verify r --json");
    shell_expect(0, "rm r/cells/none*s0*/meta.json");
    shell_expect(1, "peat verify r >out");
    shell_expect(1, "grep quote: out");
}

TEST(what_is_not_here_is_listed)
{
    shell_expect(0, "mv text.txt away");
    shell_says(0, "text.txt', which is not here\n", "peat verify r");
    assert_printed("not checked: the training of 4 of 4 cells");
    assert_printed("4 finished, 0 problems\nhash ");
    shell_says(0, "\"not_checked\": [", "peat verify r --json");
    assert_printed("text.txt', which is not here\"");
}

TEST(equal_bits_have_one_hash_wherever_they_were_made)
{
    shell_expect(0, "mkdir there && cp e.yaml text.txt there && cd there && "
                    "peat run e.yaml -q -o elsewhere -j 2 -t 2");
    shell_expect(0, "[ $(" HASH ") = $(" HASH ") ]", "r", "there/elsewhere");
}

/* Also when it is sealed as if it had been so from the start. */
TEST(other_values_have_another_hash)
{
    static const char *const edit[] = {
        FORGE "\"value\": [0-9.]*/\"value\": 1.25/' r/cells/none*s0*/result.json",
        FORGE "\"weights_hash\": \"../\"weights_hash\": \"zz/' r/cells/none*s0*/result.json",
        FORGE "\"every\": 5/\"every\": 7/' r/cells/none*s0*/config.json"};
    for (size_t i = 0; i < sizeof(edit) / sizeof(*edit); i++) {
        shell_expect(0, "rm -rf r && cp -r whole r && %s", edit[i]);
        shell_expect(0, "peat results r --format json | grep -A1 hashes >now && "
                        "peat results whole --format json | grep -A1 hashes >then && "
                        "! cmp -s now then && ! grep null now then");
    }
}

TEST(retrained_cells_have_the_same_bits)
{
    shell_says(0, "; retrained with seed 7: 4 the same\n", "peat verify r --retrain 9 --seed 7");
    shell_says(0, "\"seed\": 7", "peat verify r --retrain 1 --seed 7 --json");
    shell_expect(0, FORGE "\"value\": [0-9.]*/\"value\": 1.25/' r/cells/none*s0*/result.json");
    shell_says(1, "retrained: none.-.s0: differs: its values differ", "peat verify r --retrain 9");
}

TEST(data_may_have_moved_and_may_not_have_changed)
{
    shell_expect(0, "mv text.txt moved.txt && tr 0-8 1-9 <moved.txt >other.txt");
    shell_says(1, "retrained: none.-.s0: failed: ", "peat verify r --retrain 4 --seed 7");
    shell_says(0, "; retrained with seed 7: 4 the same\n",
               "peat verify r --retrain 4 --seed 7 task.path=moved.txt");
    shell_says(1, "; retrained with seed 7: 0 the same, 4 failed\n",
               "peat verify r --retrain 4 --seed 7 task.path=other.txt");
    shell_says(2, "task.path must be the path of data", "peat verify r --retrain 1 task.path=no");
    shell_says(2, "give --retrain N", "peat verify r task.path=moved.txt");
}

/* The copy that is verified was written anew for data in other folders. */
TEST(moved_files_keep_the_hash_also_two_of_one_name)
{
    shell_expect(0, "mkdir a b && seq 900 >a/t.txt && seq 500 1500 >b/t.txt && "
                    "peat run e.yaml -q -o two 'task.path=[a/t.txt, b/t.txt]' seeds=1 && "
                    "peat verify two | grep ^hash >then && mv a c && mv b d && "
                    "peat run e.yaml -q -o two 'task.path=[c/t.txt, d/t.txt]' seeds=1");
    shell_says(0, "2 finished, 0 problems", "peat verify two");
    shell_expect(0, "grep -q /d/t.txt two/cells/none*/config.json && "
                    "grep -q /b/t.txt two/cells/none*/meta.json && "
                    "peat verify two | grep ^hash | cmp - then");
}

/* The start of a cell is moved, and the directory of a file. */
TEST(a_moved_start_keeps_the_hash)
{
    static const char *const from[] = {"cell: none.-.s0", "cell: s.safetensors"};
    shell_expect(0, "mkdir d && peat export r none.-.s0 -o d/s.safetensors");
    for (int i = 0; i < 2; i++) {
        const char *was = i ? "d" : "r", *words = "-q -o on position.scheme=none seeds=1";
        shell_expect(0,
                     "rm -rf on && peat run e.yaml %s 'model.start={from: %s, %s}' && "
                     "peat verify on | grep ^hash >then && mv %s far && "
                     "peat run e.yaml %s 'model.start={from: far, %s}' && "
                     "peat verify on | grep ^hash | cmp - then && rm -r far",
                     words, was, from[i], was, words, from[i]);
    }
}

/* The products of small cells are the engine's own; larger ones are the library's. */
TEST(other_kernels_are_not_comparable_where_bits_differ)
{
    static const char large[] = "model.d_model=128 train.batch=32 run.gemm=openblas seeds=1";
    shell_expect(0,
                 "export OPENBLAS_CORETYPE=Prescott; peat run e.yaml -q -o small 2>&1 && "
                 "peat run e.yaml -q -o large %s 2>&1",
                 large);
    if (shell_run("grep -h '\"blas_core\"' r/cells/none*s0*/meta.json >a; "
                  "grep -h '\"blas_core\"' small/cells/none*s0*/meta.json >b; cmp -s a b") == 0)
        return;
    shell_says(0, "1 the same\n", "peat verify small --retrain 1");
    shell_says(1, "not comparable: blas", "peat verify large --retrain 1");
    assert_printed("here; its values differ by ");
    assert_printed("0 the same, 1 not comparable\n");
}

/* ---- sealed anew: what stands in no other file that a seal would hold together ---- */

/* The file of the run, or of the first cell of none; edited by json_put_text, it is sealed anew. */
static void seal_text(const char *file, const char *map, const char *key, const char *text)
{
    struct forgery f;
    open_forgery(&f);
    bool of_run = strcmp(file, "plan.json") == 0;
    const char *dir = of_run ? arena_printf(&f.a, "%s/r", shell.dir) : f.dir;
    struct json v = {.a = &f.a};
    if (json_read_file(dir, file, &f.a, &v.v, NULL) != PEAT_OK)
        v = json_map(&f.a);
    struct json inner = {&f.a, map ? value_get(v.v, map) : v.v};
    json_put_text(inner, key, text);
    if (strcmp(file, "stale.json") == 0)
        json_put_int(v, "format", 1);
    ck_assert_int_eq(json_write_file(dir, file, v.v, NULL), PEAT_OK);
    arena_release(&f.a);
}

TEST(a_plan_that_its_experiment_contradicts_is_a_problem)
{
    seal_text("plan.json", "report", "goal", "min");
    shell_says(1, "problem: ", "peat verify r");
    assert_printed("goal");
    seal_text("plan.json", "report", "metric", "accuracy");
    shell_says(1, "problem: ", "peat verify r");
    assert_printed("metric");
    assert_printed("problem: plan.json is not what claims.json registers last: report.metric \"\" "
                   "-> accuracy");
}

/* A cell whose batches are called others is in no pair. */
TEST(cells_that_are_fed_alike_have_one_hash_of_batches)
{
    seal_text("result.json", NULL, "batch_hash", "0");
    shell_says(1, "its batch_hash is not that of none.-.s0, which is fed alike", "peat verify r");
    seal_text("result.json", NULL, "length_unit", "places");
    shell_says(1, "its length_unit is not that of none.-.s0, which is fed alike", "peat verify r");
}

/* Unless it is the experiment that was changed, too. */
TEST(a_plan_that_is_not_the_registered_one_is_a_problem)
{
    shell_says(0, " before the first step and changed later, peat ",
               "peat plan e.yaml -o r --write seeds=1 && peat verify r");
    shell_expect(0, "cp r/claims.json kept; cp whole/claims.json r");
    shell_says(1, "plan.json is not what claims.json registers last: seeds 2 -> [0]\n",
               "peat verify r");
    shell_expect(0, "cp kept r/claims.json");
    seal_text("plan.json", NULL, "experiment", "verified");
    shell_says(0, "0 problems", "peat verify r");
}

TEST(many_cells_of_a_state_are_a_short_line)
{
    shell_expect(0, "rm r/cells/*/result.json");
    shell_says(0, "note: 4 partial, in no mean: none.-.s0, ", "peat verify r");
    assert_printed(", ...\n");
    ck_assert(!shell_printed("rotary.-.s0, rotary.-.s1"));
}

/* One added file takes a cell out of the means. */
TEST(a_cell_in_no_mean_is_named_and_changes_the_hash)
{
    shell_expect(0, HASH " >before", "r");
    seal_text("stale.json", NULL, "reason", "x");
    shell_says(0, "none.-.s0", "peat verify r | grep stale");
    shell_expect(1, HASH " | cmp -s before -", "r");
}

int main(void)
{
    return run_tests((struct tests){"verify", open_run, shell_close, .seconds = 120});
}
