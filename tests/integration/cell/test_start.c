/* SPDX-License-Identifier: MIT */
/*
 * test_start.c: weights that start from a file or from a cell of another run, as a user has them.
 * What a cell came to is read from its final weights.
 */
#include "model/safetensors.h"
#include "support/shell.h"
#include "support/support.h"

enum { V = 256, D = 16 };

static struct arena arena;
static struct error err;

static const char experiment[] = "version: 1\n"
                                 "name: x\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: data}\n"
                                 "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                                 "  train: {steps: 2, batch: 2, seq_len: 8}\n"
                                 "  eval: {lengths: [8], tokens: 64}\n"
                                 "  position: {scheme: learned, combine: sum}\n";

/* ---- files ---- */

static const char *path_of(const char *name)
{
    return arena_printf(&arena, "%s/%s", shell.dir, name);
}

static void put(const char *name, const void *bytes, size_t n)
{
    ck_assert_int_eq(file_write(path_of(name), bytes, n, &err), PEAT_OK);
}

/* Element i of what the files below hold. */
static float element(int64_t i)
{
    return 0.001f * (float)(i % 1000) - 0.5f;
}

static float *elements(int64_t n)
{
    float *x = ARENA_ARRAY(&arena, n, float);
    for (int64_t i = 0; i < n; i++)
        x[i] = element(i);
    return x;
}

static struct named_tensor table(const char *name, int64_t rows, int64_t cols)
{
    struct named_tensor t = {name, tensor_shape(PEAT_F32, 2, (int64_t[]){rows, cols})};
    t.tensor.data = elements(rows * cols);
    return t;
}

static void put_tensors(const char *name, int n, const struct named_tensor *t)
{
    ck_assert_int_eq(safetensors_write(path_of(name), t, n, NULL, &err), PEAT_OK);
}

/* One table, as most tests start from. */
static void put_table(const char *name, int64_t rows)
{
    const struct named_tensor t = table("any", rows, D);
    put_tensors(name, 1, &t);
}

/* Of the final weights of a run's one cell. */
static struct tensor final_tensor(const char *run, const char *name)
{
    struct named_tensor *t;
    int n;
    shell_expect(0, "cp %s/cells/*/ckpt/*/model.safetensors final.safetensors", run);
    ck_assert_msg(safetensors_read(path_of("final.safetensors"), &arena, &t, &n, NULL, &err) ==
                      PEAT_OK,
                  "%s", err.text);
    const struct named_tensor *found = safetensors_find(t, n, name);
    ck_assert_msg(found, "no tensor '%s'", name);
    return found->tensor;
}

/* The first metric of a run's one cell, at its end. */
static double final_value(const char *run)
{
    shell_expect(0, "peat results %s -f csv --columns value | sed -n 2p", run);
    return atof(shell.printed.text);
}

static void open_experiment(void)
{
    shell_open();
    arena_init(&arena, "test", 1 << 16);
    err = (struct error){0};
    shell_write("x.yaml", experiment);
    shell_expect(0, "yes abcdefgh | head -c 4000 > data");
}

static void close_experiment(void)
{
    arena_release(&arena);
    shell_close();
}

/* A finished run of one cell. */
static void make_run(const char *name, const char *words)
{
    shell_expect(0, "peat run x.yaml -q -o %s %s", name, words);
}

/* ---- tables of files ---- */

static void assert_is_file(const char *run, const char *name)
{
    struct tensor t = final_tensor(run, name);
    for (int64_t i = 0; i < tensor_count(&t); i++)
        ck_assert_msg(((const float *)t.data)[i] == element(i), "%s: number %d", name, (int)i);
}

TEST(a_table_by_rows_is_the_file_and_stays_it_when_frozen)
{
    put_table("v.f", V);
    put_tensors("v.safetensors", 2,
                (struct named_tensor[]){table("wte", V, D), table("other", 3, 5)});
    put_tensors("one.f", 2,
                (struct named_tensor[]){table("other", 3, 5), table("token.weight", V, D)});
    shell_says(0, "start: learned.sum.s0: token.weight from any of v.f",
               "peat plan x.yaml 'model.embedding={from: v.f, frozen: true}'");
    assert_printed("parameters: learned.sum.s0: 7,536 trained, 4,096 frozen");
    make_run("a", "'model.embedding={from: v.f, frozen: true}'");
    assert_is_file("a", "token.weight");
    make_run("b", "'model.embedding={from: v.safetensors, tensor: wte, frozen: true}'");
    assert_is_file("b", "token.weight");
    make_run("c", "'model.embedding={from: one.f, frozen: true}'");
    assert_is_file("c", "token.weight");
    make_run("d", "'model.embedding=v.f' train.lr=1e-30");
    assert_is_file("d", "token.weight");
    make_run("e", "'model.start={from: v.f, to: head.weight, frozen: true}'");
    assert_is_file("e", "head.weight");
    shell_expect(0, "peat export d 0 --start -o start.safetensors");
    shell_expect(0, "mkdir -p s/cells/d/ckpt/0 && mv start.safetensors "
                    "s/cells/d/ckpt/0/model.safetensors");
    assert_is_file("s", "token.weight");
    shell_says(0, "\"started\": \"head.weight from any of v.f\"", "cat e/cells/*/result.json");
}

/* ---- files of other programs ---- */

#define CONVERT "PYTHONPATH=\"$PEAT_SOURCE/python\" /usr/bin/python3 -m peat.convert "

static bool has_numpy(void)
{
    bool has = shell_run("/usr/bin/python3 -c 'import numpy'") == 0;
    if (!has)
        puts("skipped: python3-numpy is not installed");
    return has;
}

TEST(words_are_found_by_their_tokens_and_others_keep_their_draw)
{
    static const char *const word[] = {"a", "b", "ze bra", "h", "a"};
    struct strbuf text;
    if (!has_numpy())
        return;
    strbuf_init(&text);
    strbuf_add(&text, "5 16\n");
    for (int w = 0; w < 5; w++) {
        strbuf_add(&text, word[w]);
        for (int i = 0; i < D; i++)
            strbuf_addf(&text, " %d.25", 10 * w + i);
        strbuf_add(&text, "\n");
    }
    put("words.txt", text.text, text.n);
    strbuf_release(&text);
    make_run("drawn", "'model.freeze=token.*'");
    shell_expect(0, "peat export drawn 0 --start -o start.f");
    shell_says(0, "token.weight: 3 of 256 tokens found among 5 words of words.txt",
               CONVERT "words.txt words.f --tokens start.f");
    make_run("words", "'model.embedding={from: words.f, frozen: true}'");
    struct tensor drawn = final_tensor("drawn", "token.weight");
    struct tensor words = final_tensor("words", "token.weight");
    for (int64_t id = 0; id < V; id++)
        for (int64_t i = 0; i < D; i++) {
            double own = tensor_get(&words, id * D + i);
            int w = id == 'a' ? 0 : id == 'b' ? 1 : id == 'h' ? 3 : -1;
            ck_assert_double_eq(own, w < 0 ? tensor_get(&drawn, id * D + i)
                                           : 10.0 * w + (double)i + 0.25);
        }
}

TEST(an_array_of_numpys_is_converted)
{
    if (!has_numpy())
        return;
    shell_expect(0, "/usr/bin/python3 -c \"import numpy as n; i = n.arange(256 * 16) %% 1000; "
                    "n.save('v.npy', (n.float32(0.001) * i.astype('>f4') - n.float32(0.5))"
                    ".reshape(256, 16))\" && " CONVERT "v.npy v.f");
    make_run("a", "'model.embedding={from: v.f, frozen: true}'");
    assert_is_file("a", "token.weight");
}

static const struct {
    const char *make, *words, *says;
} unconverted[] = {
    {": > e.txt", "e.txt f --tokens start.f", "none of the 0 words of 'e.txt' is one of the 256"},
    {"printf '2 16\\nthe 1\\n' > c.txt", "c.txt f --tokens start.f",
     "line 2: 1 numbers where 16 are expected"},
    {"printf '3 2\\na 1 2\\n' > c.txt", "c.txt f --tokens start.f",
     "are 2 wide, and token.weight is"},
    {"printf '3 2\\nthe 1 2\\n' > c.txt", "c.txt f --tokens start.f", "are 2 wide"},
    {"printf '2 16\\na 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6\\n' > c.txt", "c.txt f --tokens start.f",
     "has 1 words, and its first line says 2: is it cut?"},
    {"printf '\\377\\376t\\000' > u.txt", "u.txt f --tokens start.f", "is not text in UTF-8"},
    {"printf 'wordless 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6\\n' > w.txt", "w.txt f --tokens start.f",
     "none of the 1 words of"},
    {"printf 'a 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 1e300\\n' > h.txt", "h.txt f --tokens start.f",
     "a number is not finite in fp32"},
    {"printf 'a 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 x\\n' > h.txt", "h.txt f --tokens start.f",
     "line 1: could not convert string to float"},
    {"printf 'a 1\\n' > h.txt", "h.txt f --tokens v.f", "'v.f' has no token.weight"},
    {"printf 'a 1\\n' > h.txt", "h.txt f --tokens copied.f", "'copied.f' has no texts of tokens"},
    {"printf x > x.npy", "x.npy f", "peat.convert: "},
    {"/usr/bin/python3 -c 'import numpy as n; n.save(\"i.npy\", n.arange(3))'", "i.npy f",
     "weights are float16, float32 or float64, not int64"},
};

TEST(what_is_not_converted_is_refused_with_one_line)
{
    if (!has_numpy())
        return;
    put_table("v.f", V);
    shell_expect(0, "peat plan x.yaml -o a --write && peat export a 0 --start -o start.f && "
                    "peat plan x.yaml -o c --write task=copy eval.lengths=2 && "
                    "peat export c 0 --start -o copied.f");
    for (size_t i = 0; i < sizeof(unconverted) / sizeof(*unconverted); i++) {
        shell_expect(0, "%s", unconverted[i].make);
        ck_assert_int_eq(shell_run(arena_printf(&arena, CONVERT "%s", unconverted[i].words)), 1);
        assert_printed(unconverted[i].says);
        ck_assert_ptr_eq(strchr(shell.printed.text, '\n'), strrchr(shell.printed.text, '\n'));
        shell_expect(0, "test ! -e f");
    }
}

/* ---- cells ---- */

TEST(a_cell_is_started_from_by_its_names)
{
    make_run("first", "train.steps=20");
    make_run("again", "'model.start={from: first, cell: learned.sum.s0}' train.lr=1e-30");
    ck_assert_double_eq(final_value("first"), final_value("again"));
    shell_says(0, "parameters from learned.sum.s0\"", "cat again/cells/*/result.json");
    shell_expect(0, "id=$(ls first/cells); for cell in $id ${id##*-} learned.sum.s{seed}; do "
                    "peat plan x.yaml \"model.start={from: first, cell: '$cell'}\" --json | "
                    "grep -e hash || exit 1; done");
    make_run("table", "'model.start={from: first, cell: learned.sum.s0, "
                      "to: [token.*, position.*], frozen: true}'");
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "position.0.learned.table" : "token.weight";
        struct tensor one = final_tensor("first", name), two = final_tensor("table", name);
        ck_assert_mem_eq(one.data, two.data, tensor_bytes(&one));
    }
    shell_expect(0, "peat diagnose again 0 && peat inspect again learned.sum.s0 || true");
}

TEST(a_position_table_is_transplanted_into_another_schemes)
{
    make_run("first", "train.steps=20");
    make_run("bipe",
             "'position.scheme={plugin: bipe, longest: 8}' 'model.start={from: first, cell: "
             "learned.sum.s0, tensor: position.0.learned.table, to: position.0.bipe.table, "
             "frozen: true}'");
    struct tensor one = final_tensor("first", "position.0.learned.table");
    struct tensor two = final_tensor("bipe", "position.0.bipe.table");
    ck_assert_mem_eq(one.data, two.data, tensor_bytes(&one));
    shell_says(2, "has shape [8, 16], and 'position.0.bipe.table' of the model has [5, 16]",
               "peat plan x.yaml 'position.scheme={plugin: bipe, longest: 5}' "
               "'model.start={from: first, cell: learned.sum.s0, tensor: "
               "position.0.learned.table, to: position.0.bipe.table}'");
    assert_printed("command line:2: tensor 'position.0.learned.table' of '");
}

TEST(every_seed_starts_from_the_cell_of_its_seed)
{
    make_run("first", "train.steps=5 seeds=3");
    make_run("next", "'model.start={from: first, cell: \"learned.sum.s{seed}\"}' "
                     "train.lr=1e-30 seeds=3");
    shell_expect(0, "for r in first next; do peat results $r -f csv --columns metric,value | grep "
                    "bpb > $r.csv; done; "
                    "cmp first.csv next.csv; sort -u first.csv | wc -l | grep -q 3");
    shell_says(0, "parameters from learned.sum.s2\"", "cat next/cells/*s2-*/result.json");
    shell_says(0, "1", "cat next/cells/*/config.json | grep '\"setting\"' | sort -u | wc -l");
    shell_says(
        2, "has no cell 'learned.sum.s3'; did you mean 'learned.sum.s0'",
        "peat plan x.yaml 'model.start={from: first, cell: \"learned.sum.s{seed}\"}' seeds=4");
    shell_says(0, "3 the same", "peat verify next --retrain 3");
    make_run("first", "train.steps=6 seeds=3"); /* cells of an earlier plan do not count */
    make_run("first", "train.steps=5 seeds=3");
    shell_expect(0, "peat run next");
}

TEST(every_seed_starts_from_the_file_of_its_seed)
{
    make_run("first", "train.steps=5 seeds=2");
    shell_expect(0, "mkdir d; for s in 0 1; do peat export first learned.sum.s$s -o d/s$s.f || "
                    "exit 1; done");
    make_run("next", "'model.start={from: d, cell: \"s{seed}.f\"}' train.lr=1e-30 seeds=2");
    shell_expect(0,
                 "for r in first next; do peat results $r -f csv --columns metric,value | grep "
                 "bpb > $r.csv; done; cmp first.csv next.csv; sort -u first.csv | wc -l | grep -q "
                 "2; peat verify next");
}

/* ---- a sum from a concatenation ---- */

#define SUM_OF_CONCAT "\"$PEAT_SOURCE\"/experiments/how-the-sum-is-read/sum_of_concat.py"

static const struct {
    const char *combine, *words;
} concats[] = {
    {"concat_split", ""},
    {"'{plugin: concat_split, d_pos: 5}'", ""},
    {"'{plugin: concat_overlap, d_pos: 5, shared: 3}'", ""},
    {"'{plugin: concat_overlap, d_pos: 4}'",
     "'position.scheme=[[learned, {plugin: bipe, longest: 8}]]'"},
    {"concat_split", "'position.scheme=[[learned, {plugin: bipe, longest: 8}, rotary]]'"},
    {"concat_split", "model.arch=encoder"},
    {"concat_split", "model.norm=rms model.embed_scale=2 model.window=3"},
    {"concat_split", "'task={plugin: text, path: data, unit: characters}' model.n_layer=2"},
};

LOOP_TEST(a_sum_started_from_a_concatenation_computes_the_same, sizeof(concats) / sizeof(*concats))
{
    const char *words = concats[_i].words;
    shell_expect(0,
                 "peat run x.yaml -q -o first train.steps=60 train.lr=3e-3 "
                 "position.combine=%s %s",
                 concats[_i].combine, words);
    shell_expect(0,
                 "peat export first 0 -o f && " SUM_OF_CONCAT " f sum.safetensors && "
                 "peat run x.yaml -q -o sum train.lr=1e-30 %s position.combine=sum "
                 "model.start=sum.safetensors",
                 words);
    double was = final_value("first"), is = final_value("sum");
    ck_assert_msg(isfinite(was) && fabs(was - is) < 1e-6, "%.9g and %.9g", was, is);
    shell_expect(0, "peat run x.yaml -q -o drawn train.lr=1e-30 %s position.combine=sum", words);
    ck_assert_double_gt(fabs(final_value("drawn") - was), 1e-3);
    struct tensor token = final_tensor("sum", "token.weight");
    ck_assert_int_eq(token.dim[1], D);
    ck_assert_double_lt(fabs(tensor_get(&token, D - 1)), 1e-20);
    shell_says(0, "parameters from sum.safetensors", "cat sum/cells/*/result.json");
}

static const struct {
    const char *words, *says;
} unlike[] = {
    {"", "the combination is sum, not concat_split or concat_overlap"},
    {"position.combine=concat_split position.scheme=sinusoidal",
     "the tables end at 12 of 16 dimensions"},
};

LOOP_TEST(what_the_script_cannot_fill_up_is_refused, sizeof(unlike) / sizeof(*unlike))
{
    shell_expect(0, "peat run x.yaml -q -o first %s && peat export first 0 -o f", unlike[_i].words);
    shell_says(1, unlike[_i].says, SUM_OF_CONCAT " f sum.safetensors");
    shell_expect(0, "test ! -e sum.safetensors");
}

TEST(the_setting_that_was_removed_names_the_script)
{
    make_run("first", "position.combine=concat_split");
    shell_says(2, "as: sum_of_concat was removed: experiments/how-the-sum-is-read/sum_of_concat.py",
               "peat plan x.yaml "
               "'model.start={from: first, cell: learned.concat_split.s0, as: sum_of_concat}'");
}

/* ---- identity ---- */

TEST(the_bytes_and_not_the_path_make_the_cell)
{
    put_table("v.f", V);
    shell_expect(0, "cp v.f w.f; peat plan x.yaml --ids > drawn; "
                    "peat plan x.yaml model.embedding=v.f --ids > v; "
                    "peat plan x.yaml model.embedding.from=w.f --ids > w; cmp v w; "
                    "! cmp -s v drawn; printf x | dd of=w.f bs=1 seek=1000 conv=notrunc 2>&1; "
                    "peat plan x.yaml model.embedding=w.f --ids > w; ! cmp -s v w; "
                    "peat plan x.yaml model.embedding=v.f model.embedding.frozen=true --ids > f; "
                    "! cmp -s v f; peat plan x.yaml model.embedding=null --ids > n; cmp n drawn");
    make_run("first", "");
    shell_expect(0, "cp -r first moved; for r in first moved; do peat plan x.yaml --ids "
                    "\"model.start={from: $r, cell: learned.sum.s0}\" > $r.ids; done; "
                    "cmp first.ids moved.ids");
    shell_expect(0, "peat plan x.yaml --json > plain; ! grep -e '\"start\"' -e embedding plain");
}

TEST(a_grid_varies_file_cell_and_frozen)
{
    put_table("v.f", V);
    put_table("w.f", V);
    make_run("first", "seeds=2");
    shell_expect(0, "printf 'matrix:\\n  tokens: {drawn: {}, file: {model.embedding: v.f}, cell: "
                    "{model.embedding: "
                    "{from: first, cell: learned.sum.s1}}}\\n  how: {free: {}, fixed: "
                    "{model.freeze: token.*}}\\n' > m; "
                    "cat x.yaml m > g.yaml");
    shell_says(0, "6 cells: 6 rows x 1 seed", "peat plan g.yaml");
    shell_expect(0, "printf 'matrix:\\n  model.embedding.frozen: [true, false]\\n"
                    "  model.embedding.from: [v.f, first]\\n' > m; sed 's/n_head: 2/&, embedding:"
                    " {from: v.f}/' x.yaml | cat - m > g.yaml; "
                    "sed -i 's/first.$/w.f]/' g.yaml");
    shell_says(0, "4 cells: 4 rows x 1 seed", "peat plan g.yaml");
    shell_expect(0, "printf 'matrix:\\n  model.start.cell: [learned.sum.s0, learned.sum.s1]\\n' > "
                    "m; sed 's/n_head: 2/&, start: {from: first, cell: x}/' x.yaml | cat - m > "
                    "g.yaml");
    shell_says(0, "2 cells: 2 rows x 1 seed",
               "peat run g.yaml -o grid -q --dry-run || "
               "peat plan g.yaml");
    shell_says(2, "unknown key 'model.embedding.form'; did you mean 'model.embedding.from'?",
               "peat plan x.yaml model.embedding.form=v.f");
    shell_says(2, "'model.start.cell' cannot be set: 'model.start' is a list here",
               "peat plan x.yaml 'model.start=[{from: v.f}]' model.start.cell=3");
}

TEST(what_changes_between_plan_and_cell_ends_the_cell_with_one_line)
{
    put_table("v.f", V);
    shell_expect(0, "peat plan x.yaml -o a --write model.embedding=v.f; "
                    "printf x | dd of=v.f bs=1 seek=1000 conv=notrunc 2>&1");
    shell_says(1, "the data or a plugin has changed since the cell was planned", "peat cell a 0");
    make_run("first", "");
    shell_expect(0, "peat plan x.yaml -o b --write "
                    "'model.start={from: first, cell: learned.sum.s0}'; rm -r first");
    shell_expect(1, "peat cell b 0");
    assert_printed("first");
    shell_expect(0, "test ! -e b/cells/*/result.json");
}

TEST(what_was_read_is_kept_and_a_run_is_made_again_elsewhere)
{
    put_table("v.f", V);
    make_run("first", "");
    shell_expect(0, "sed 's/n_head: 2/&, embedding: v.f, start: {from: first, cell: "
                    "learned.sum.s0}/' x.yaml > y.yaml; peat run y.yaml -q -o kept");
    shell_says(0, "\"run\": ", "cat kept/cells/*/meta.json");
    shell_expect(0,
                 "for f in v.f first/cells/*/ckpt/*/model.safetensors; do "
                 "grep -q $(sha256sum < $f | cut -c1-64) kept/cells/*/meta.json || exit 1; done");
    shell_expect(0,
                 "mkdir far; cd far; peat plan ../kept --ids > ids; ls ../kept/cells | cmp - ids");
    shell_says(0, "1 finished, 0 problems", "peat verify kept");
    shell_says(0, "1 the same", "peat verify kept --retrain 1");
    shell_expect(0, "mkdir there && cp -r v.f first data there && cd there && sed 's/n_head: 2/&, "
                    "embedding: v.f, start: {from: first, cell: learned.sum.s0}/' ../x.yaml > "
                    "y.yaml && peat run y.yaml -q -o kept");
    shell_expect(0,
                 "for d in kept there/kept; do peat verify $d | grep -o 'hash.*' > $(echo $d | tr "
                 "/ .).hash; done; cmp kept.hash there.kept.hash; test -s kept.hash");
    shell_expect(0, "printf x | dd of=v.f bs=1 seek=1000 conv=notrunc 2>&1");
    shell_says(1, "v.f' differs from the file that it was made with", "peat verify kept");
}

TEST(what_started_from_something_gone_is_not_comparable)
{
    make_run("first", "");
    shell_expect(0, "sed 's/n_head: 2/&, start: {from: first, cell: learned.sum.s0}/' x.yaml > "
                    "y.yaml; peat run y.yaml -q -o kept; mv first gone");
    shell_says(1, "not comparable: it starts from '", "peat verify kept --retrain 1");
    assert_printed("first', which is not here");
}

TEST(an_interrupted_cell_ends_with_the_same_bits)
{
#define LONG "'model.embedding={from: v.f, frozen: true}' train.steps=2000"
    put_table("v.f", V);
    shell_expect(0, "echo 'run: {checkpoint: {every: 50}}' >> x.yaml");
    shell_expect(0, "peat run x.yaml -o whole " LONG);
    shell_expect(130, INTERRUPTED("peat run x.yaml -o cut " LONG, ANY("cut/cells/*/ckpt/step-*")));
    shell_says(0, "1 done", "peat run x.yaml -o cut " LONG);
    shell_says(0, "continues from step", "cat cut/cells/*/log.txt");
    shell_expect(0, "cmp whole/cells/*/ckpt/*/model.safetensors "
                    "cut/cells/*/ckpt/*/model.safetensors");
}

/* ---- mistakes ---- */

static const struct {
    const char *make, *model, *says;
} mistakes[] = {
    {"", "embedding: none.f", "x.yaml:9:16: 'from' in embedding in model names"},
    {": > e.safetensors", "embedding: e.safetensors", "too short for a safetensors file"},
    {"head -c 9000 v.f > c.f", "embedding: c.f", "ends beyond the file"},
    {"head -c 9000 v.safetensors > c.safetensors", "embedding: c.safetensors",
     "ends beyond the file"},
    {"truncate -s 8T t.f", "embedding: t.f", "has 8192 GiB, more than the memory"},
    {"", "embedding: small.f", "has shape [3, 16], and 'token.weight' of the model has [256, 16]"},
    {"printf '\\377\\377\\377\\377\\377\\377\\377\\177{' > h.safetensors",
     "embedding: h.safetensors", "a header of 9223372036854775807 bytes, the limit is"},
    {"", "embedding: {from: two.safetensors, tensor: c}", "has no tensor 'c'; it has a, b"},
    {"", "embedding: two.safetensors", "has no tensor 'token.weight'; it has a, b"},
    {"", "embedding: {from: v.f, cell: c}", "'cell' is given, but '"},
    {"", "embedding: {frozen: true}", "x.yaml:9:16: embedding in model needs key 'from'"},
    {"", "embedding: {form: v.f}",
     "unknown key 'form' in embedding in model; did you mean 'from'?"},
    {"", "embedding: [v.f]", "x.yaml:9:16: embedding in model must be a map"},
    {"", "start: {from: v.f, to: tokens.weight}",
     "no parameter of the model is called 'tokens.weight'; did you mean 'token.weight'?"},
    {"", "start: {from: v.f, to: token.weight, as: other}", "'as' in start in model"},
    {"", "start: {from: v.safetensors, as: sum_of_concat}", "as: sum_of_concat was removed"},
    {"mkdir d", "embedding: d", "is a directory: 'cell' must name a cell or a file of it"},
    {"mkdir d", "embedding: {from: d, cell: c}", "d' has neither a file 'c' nor cells of a run"},
    {"", "embedding: {from: first, cell: lerned.sum.s0}",
     "has no cell 'lerned.sum.s0'; did you mean 'learned.sum.s0'?"},
    {"rm first/cells/*/result.json", "start: {from: first, cell: learned.sum.s0}",
     "has not finished, and a start needs final weights"},
    {"printf x | dd of=$(ls first/cells/*/ckpt/*/model.safetensors) bs=1 seek=9000 conv=notrunc",
     "start: {from: first, cell: learned.sum.s0}",
     "model.safetensors is not the one that result.json was sealed with"},
    {"rm -r first/cells/*/ckpt", "start: {from: first, cell: learned.sum.s0}",
     "model.safetensors is missing"},
    {"sed -i 's/bpb/bpc/' first/cells/*/result.json", "start: {from: first, cell: learned.sum.s0}",
     "result.json' is damaged"},
    {"sed -i s/blas/bals/ first/cells/*/meta.json", "start: {from: first, cell: learned.sum.s0}",
     "meta.json"},
    {"printf '2 2\\na 1\\n' > x.safetensors", "embedding: x.safetensors", "x.safetensors"},
    {"mkfifo p.f", "embedding: p.f", "is a named pipe, not a regular file"},
    {"ln -s /dev/zero z", "embedding: z", "is a device"},
    {": > e.txt", "embedding: e.txt",
     "e.txt' is not a safetensors file: `python3 -m peat.convert`"},
    {"printf 'a 1 2\\n' > w.txt", "start: {from: w.txt, to: head.weight}",
     "is not a safetensors file"},
    {"gzip -c v.f > v.gz", "embedding: v.gz", "v.gz' is not a safetensors file"},
    {"", "start: {from: v.safetensors, tensor: t}", "with 'tensor', 'to' must name one parameter"},
};

LOOP_TEST(mistakes_are_one_line_before_training, sizeof(mistakes) / sizeof(*mistakes))
{
    put_table("v.f", V);
    put_table("small.f", 3);
    put_tensors("v.safetensors", 1, (struct named_tensor[]){table("t", V, D)});
    put_tensors("two.safetensors", 2, (struct named_tensor[]){table("a", V, D), table("b", V, D)});
    if (strstr(mistakes[_i].model, "first"))
        make_run("first", "");
    shell_expect(0, "%s%strue", mistakes[_i].make, *mistakes[_i].make ? "; " : "");
    shell_expect(0,
                 "cat > x.yaml <<'END'\nversion: 1\nname: x\ndefaults:\n"
                 "  task: {plugin: text, path: data}\n  train: {steps: 2, seq_len: 8}\n"
                 "  position: {scheme: learned, combine: sum}\n  model:\n    d_model: 16\n"
                 "    %s\nEND",
                 mistakes[_i].model);
    shell_says(2, mistakes[_i].says, "timeout 60 peat run x.yaml");
    assert_printed("peat: x.yaml:9:");
    ck_assert_ptr_eq(strchr(shell.printed.text, '\n'), strrchr(shell.printed.text, '\n'));
    shell_expect(0, "test ! -e runs");
}

TEST(a_model_of_patches_has_no_table_of_tokens)
{
    put_table("w.f", V);
    shell_says(2, "no parameter of the model is called 'token.weight'",
               "peat plan x.yaml 'task={plugin: images}' model.input=patches model.arch=encoder "
               "model.head=class model.embedding=w.f eval.lengths=auto train.seq_len=64");
}

TEST(rows_of_another_shape_are_left_out_of_a_grid)
{
    put_table("v.f", V);
    shell_expect(0, "printf 'matrix:\\n  position.combine: [sum, concat_split]\\n' >> x.yaml");
    shell_says(0, "skipped: learned.concat_split.s0: command line:1: tensor 'any' of '",
               "peat plan x.yaml model.embedding=v.f");
    assert_printed("has shape [256, 16], and 'token.weight' of the model has [256, 12]");
}

int main(void)
{
    return run_tests((struct tests){"start", open_experiment, close_experiment, .seconds = 240,
                                    .needs = "timeout mkfifo gzip python3 PEAT_SOURCE"});
}
