/* SPDX-License-Identifier: MIT */
/* test_again.c: what was run is kept, and makes the same again from any folder. */
#include "support/shell.h"
#include "support/support.h"

/* Paths beside the file, one of them an axis; labels that only the file knows; a plugin by path. */
static const char experiment[] =
    "version: 1\n"
    "name: x\n"
    "defaults:\n"
    "  task: {plugin: text}\n"
    "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
    "  train: {steps: 6, batch: 2, seq_len: 16}\n"
    "  eval: {lengths: [16], tokens: 64}\n"
    "matrix:\n"
    "  position.scheme: [none, {plugin: ./mine.so}, {plugin: rotary, base: 5e2}, alibi]\n"
    "  task.path: [data/one.txt, data/two.txt]\n"
    "  size: {S: {}, M: {model.d_model: 24}}\n"
    "  exclude: [{position.scheme: alibi, size: [S, M]}]\n"
    "  include:\n"
    "    - {position.scheme: sinusoidal, task.path: data/one.txt, size: S, train.lr: 2e-3}\n"
    "    - {position.scheme: none, task.path: data/one.txt, size: S, train.lr: 2e-3}\n"
    "overrides:\n"
    "  - {when: {position.scheme: alibi}, set: {train.steps: 5}}\n"
    "  - {when: {size: M}, set: {train.steps: 4}}\n"
    "seeds: 4\n"
    "report:\n"
    "  baseline: {position.scheme: none}\n"
    "  contrasts:\n"
    "    - {factor: position.scheme, of: [{plugin: ./mine.so}, none], where: {size: [S, M]}}\n"
    "claims:\n"
    "  - {name: first, contrast: './mine.so - none', direction: less, margin: 0.5}\n"
    "  - {name: two, rows: [{position.scheme: ./mine.so, task.path: data/one.txt, size: S}, "
    "{position.scheme: none, task.path: data/one.txt, size: S}], direction: less}\n";

#define KEPT "--format csv --columns cell,label,seed,metric,length,value,config_sha256"

static void open_experiment(void)
{
    shell_open();
    shell_expect(0, "mkdir -p here/data there/data far");
    shell_write("here/x.yaml", experiment);
    shell_expect(0, "cp $PEAT_BUILD/lib*/peat/plugins-*/scheme/alibi.so here/mine.so");
    shell_expect(0, "yes 'some text to learn from' | head -c 4000 > here/data/one.txt");
    shell_expect(0, "yes 'other words' | head -c 4000 > here/data/two.txt");
    shell_expect(0, "yes 'words of the command line' | head -c 4000 > there/data/three.txt");
}

/* But for the file that it was made of, which is now resolved.yaml. */
static void assert_same_plan(const char *dir)
{
    shell_expect(0,
                 "for d in %s far/again; do grep -v '\"experiment.yaml\"\\|\"check\"' "
                 "$d/plan.json | sha256sum; done | uniq | wc -l | grep -x 1",
                 dir);
}

/* DIR of the first run, as it is seen from far. */
static void assert_same_again(const char *dir)
{
    shell_expect(0, "cd far && peat run ../%s -o again", dir);
    shell_expect(0, "peat results %s " KEPT " -o was.csv", dir);
    shell_expect(0, "peat results far/again " KEPT " -o is.csv");
    shell_expect(0, "cmp was.csv is.csv");
    assert_same_plan(dir);
    shell_expect(0, "cmp %s/resolved.yaml far/again/resolved.yaml", dir);
    shell_expect(0,
                 "grep '\"sha256\"' %s/claims.json > was; grep '\"sha256\"' "
                 "far/again/claims.json > is; cmp was is",
                 dir);
}

TEST(a_run_with_overrides_and_relative_paths_is_made_again_from_another_folder)
{
    shell_expect(0, "cd there && cp ../here/mine.so . && peat run ../here/x.yaml -o run seeds=2 "
                    "train.batch=3 'size=[S]' 'position.scheme=[none, ./mine.so]'");
    assert_same_again("there/run");
    shell_says(0, "\"train.batch=3\"", "cat there/run/resolved.yaml");
    assert_printed("train.batch: 3");
    assert_printed("label: \"./mine.so\"");
    assert_printed("here/data/one.txt\"");
    assert_printed("experiment: \"");
    assert_printed("only: {position.scheme: [\"none\", \"./mine.so\"], size: [\"S\"]}");
}

TEST(the_whole_file_is_made_again)
{
    shell_expect(0, "cd here && peat run x.yaml -o run seeds=1");
    assert_same_again("here/run");
}

TEST(a_path_of_the_command_line_is_seen_from_where_it_was_said)
{
    shell_expect(0, "sed -i '/task.path/d; s/plugin: text/plugin: text, path: data.one.txt/; "
                    "/include/d; /claims/,$d; /contrasts/,$d' here/x.yaml; "
                    "sed -i 's/data.one/data\\/one/' here/x.yaml");
    shell_expect(0, "cd there && cp ../here/mine.so . && peat run ../here/x.yaml -o run seeds=1 "
                    "task.path=data/three.txt size=S");
    shell_says(0, "there/data/three.txt", "cat there/run/resolved.yaml");
    assert_same_again("there/run");
}

TEST(the_directory_goes_on_in_place_and_keeps_its_words)
{
    shell_expect(0, "cd here && peat run x.yaml -o run seeds=1 size=S --only 'none*'");
    shell_expect(0, "cp here/run/experiment.yaml was; cp here/run/resolved.yaml resolved");
    shell_expect(0, "cd far && peat run ../here/run");
    shell_expect(0, "cmp was here/run/experiment.yaml && cmp resolved here/run/resolved.yaml");
    shell_says(0, " done", "peat status here/run");
    ck_assert(!shell_printed("todo"));
    shell_says(0, "\"seeds=1\", \"size=S\", \"run.jobs=2\"",
               "peat run here/run run.jobs=2 && grep -A9 words here/run/resolved.yaml");
    shell_says(0, " 0 problems", "peat run here/run run.jobs=1 && peat verify here/run");
}

TEST(a_plan_that_was_removed_is_written_anew_and_its_cells_are_kept)
{
    shell_expect(0, "cd here && peat run x.yaml -o run seeds=1 size=S && rm run/plan.json");
    shell_says(0, " finished before", "cd here && peat run x.yaml -o run seeds=1 size=S");
    shell_expect(0, "rm here/run/plan.json");
    shell_says(0, " finished before", "cd far && peat run ../here/run");
    shell_says(0, ", 0 problems", "peat verify here/run");
}

TEST(finished_cells_that_a_plan_no_longer_has_are_said)
{
    shell_expect(0, "cd here && peat run x.yaml -o run seeds=1 size=S");
    shell_expect(
        1, "cd here && peat run x.yaml -o run seeds=1 size=S 2>&1 | grep 'differ from those'");
    shell_expect(
        1, "cd here && peat run x.yaml -o run seeds=2 size=S 2>&1 | grep 'differ from those'");
    shell_expect(0, "sed 's/^name: x/name: y/; s/steps: 6/steps: 5/' here/x.yaml >here/y.yaml");
    shell_says(2, "belongs to experiment 'x'", "cd here && peat run y.yaml -o run size=S 2>&1");
    ck_assert(!shell_printed("differ from those"));
    shell_says(0, "finished cells of the last plan, which stay in run/cells",
               "cd here && peat run x.yaml -o run seeds=2 size=S train.steps=3 2>&1");
}

TEST(another_plugin_than_it_was_made_with_is_said)
{
    shell_expect(0, "cd here && peat run x.yaml -o run seeds=1 size=S");
    shell_expect(0, "sed '/made_with/,$ s/sha256: \"..../sha256: \"0000/' here/run/resolved.yaml "
                    ">far/resolved.yaml");
    shell_says(0, "is not the file that this experiment was made with", "peat plan far");
    shell_expect(0, "sed -i 's/peat: \".*\"/peat: \"9.0\"/' far/resolved.yaml");
    shell_says(0, "this experiment was made with peat 9.0, and this is ", "peat plan far");
}

#define FILES "find here/run -type f | sort | xargs sha256sum"

TEST(a_file_that_the_plan_was_made_of_and_that_changed_is_refused)
{
    static const char *const verb[] = {"run", "plan", "validate"};
    static const char *const edit[][2] = {
        {"sed -i 's/steps: \\(.*\\)4/steps: \\15/; s/# What/# what/' here/run/resolved.yaml",
         "'here/run/resolved.yaml' was changed since `peat run` wrote it"},
        {"echo '# more' >>here/run/experiment.yaml",
         "'here/run/experiment.yaml' was changed since it was run"}};
    shell_expect(0, "cd here && peat run x.yaml -o run seeds=1 size=S && cp -r run ../whole");
    for (size_t i = 0; i < sizeof(edit) / sizeof(*edit); i++) {
        shell_expect(0, "rm -r here/run && cp -r whole here/run && %s && " FILES " >was",
                     edit[i][0]);
        for (size_t k = 0; k < sizeof(verb) / sizeof(*verb); k++) {
            shell_says(2, edit[i][1], "peat %s here/run", verb[k]);
            shell_expect(2, "peat %s here/run/resolved.yaml", verb[k]);
        }
        shell_expect(0, FILES " | cmp - was");
        shell_expect(0, "cd here && peat run x.yaml -o run seeds=1 size=S && peat run run");
        shell_says(0, " 0 problems", "peat verify here/run");
    }
    shell_expect(0, "cd here && echo '# more' >>run/experiment.yaml && cp -r data mine.so run && "
                    "peat run run/experiment.yaml -o run seeds=1 size=S");
    shell_says(0, "# more", "cat here/run/experiment.yaml && peat run here/run");
    shell_says(0, " 0 problems", "peat verify here/run");
}

static const char common[] = "version: 1\n"
                             "defaults:\n"
                             "  task: {plugin: text, path: data/one.txt}\n"
                             "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                             "  train: {steps: 6, batch: 2, seq_len: 16}\n"
                             "  position: {scheme: {plugin: rotary, base: 500}}\n"
                             "  eval: {lengths: [16, 32], tokens: 64}\n"
                             "run: {jobs: 1}\n";
static const char extending[] =
    "extends: ../common.yaml\nversion: 1\nname: e\ndefaults: {train: {steps: 4}, "
    "position: {scheme: {plugin: rotary, layout: halves}}, eval: {lengths: [16]}}\n";

static void write_extending(void)
{
    shell_write("here/common.yaml", common);
    shell_expect(0, "mkdir -p here/sub");
    shell_write("here/sub/e.yaml", extending);
}

TEST(an_experiment_that_extends_a_file_is_that_of_both)
{
    write_extending();
    shell_expect(0,
                 "sed -e 's/^version: 1/&\\nname: e/' -e 's/steps: 6/steps: 4/' -e 's/16, 32/16/' "
                 "-e 's/base: 500/layout: halves/' here/common.yaml >here/one.yaml");
    shell_expect(0,
                 "for f in one sub/e; do peat plan here/$f.yaml --register | cut -d, -f4; done | "
                 "uniq | wc -l | grep -x 1");
    shell_expect(0, "cd here && peat run sub/e.yaml -o run && cmp common.yaml run/extends.yaml");
    shell_says(0, " 0 problems", "peat verify here/run");
    shell_expect(0,
                 "cd far && peat run ../here/run -o again && ! grep extends again/resolved.yaml");
    shell_expect(0,
                 "for d in here/run far/again; do peat results $d " KEPT "; done | sort | uniq -c "
                 "| awk '$1 != 2 { exit 1 }'");
    shell_expect(
        0, "peat bundle here/run -o b.tar.xz && tar tf b.tar.xz | grep -x '[^/]*/extends.yaml'");
    shell_expect(0, "cp here/run/extends.yaml was && echo '# more' >>here/run/extends.yaml");
    shell_says(2, "'here/run/extends.yaml' was changed since it was run", "peat run here/run");
    shell_says(1, "problem: extends.yaml has changed", "peat verify here/run");
    shell_expect(0, "cp was here/run/extends.yaml && peat run here/run");
}

static const char *const mistakes[][2] = {
    {"s/batch: 2/bach: 2/", "here/sub/../common.yaml:5:21: unknown key 'bach' in train"},
    {"s/n_head: 2/n_head: 3/", "here/sub/../common.yaml:4:44: "},
    {"s/^run.*/matrix: {}/", "common.yaml:8:1: unknown key 'matrix' in a file that is extended"},
    {"s/version: 1/version: 2/", "common.yaml:1:10: version 2 is extended by a file of version 1"},
    {"s/^run/]/", "common.yaml:8:1: "},
    {"1,$d", "common.yaml"},
};
enum { MISTAKES = sizeof(mistakes) / sizeof(*mistakes) };

LOOP_TEST(a_mistake_in_the_extended_file_has_its_place, MISTAKES)
{
    write_extending();
    shell_expect(0, "sed -i '%s' here/common.yaml", mistakes[_i][0]);
    shell_says(2, mistakes[_i][1], "peat validate here/sub/e.yaml");
    shell_expect(0, "rm here/common.yaml");
    shell_says(2, "here/sub/e.yaml:1:10: 'extends' names '../common.yaml': ",
               "peat validate here/sub/e.yaml");
    shell_says(2, "command line:1: 'extends' stands in the file alone",
               "peat validate here/x.yaml extends=a");
}

TEST(the_page_says_how_and_with_which_words)
{
    shell_expect(0, "cd here && peat run x.yaml -o run seeds=1 size=S");
    shell_expect(0, "cd here && peat report run -o ../x.html");
    shell_expect(0, "grep -o 'peat run /[^ ]* -o again' x.html > command");
    shell_says(0, "seeds=1", "cat x.html");
    shell_expect(0, "cd far && sh ../command");
    assert_same_plan("here/run");
}

TEST(a_directory_without_a_resolved_experiment_is_refused)
{
    shell_says(2, "'far' is a directory without resolved.yaml", "peat run far");
}

int main(void)
{
    return run_tests((struct tests){"again", open_experiment, shell_close, .seconds = 120});
}
