/* SPDX-License-Identifier: MIT */
/* test_bundle.c: a run directory as one file, and that file as a run directory. */
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] =
    "version: 1\n"
    "name: x\n"
    "defaults:\n"
    "  task: {plugin: text, path: one.txt}\n"
    "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
    "  train: {steps: 6, batch: 2, seq_len: 16}\n"
    "  eval: {lengths: [16], tokens: 64}\n"
    "matrix:\n"
    "  position.scheme: [none, learned]\n"
    "  position.combine: [sum, {plugin: concat_split, d_pos: 4}]\n"
    "seeds: 2\n"
    "report:\n"
    "  baseline: {position.scheme: none}\n"
    "claims:\n"
    "  - {name: first, contrast: {factor: position.combine, of: ['concat_split(d_pos=4)', sum]}, "
    "direction: less}\n";

static void open_run(void)
{
    shell_open();
    shell_expect(0, "mkdir -p here far");
    shell_write("here/x.yaml", experiment);
    shell_expect(0, "yes 'some text to learn from' | head -c 4000 > here/one.txt");
    shell_expect(0, "cd here && peat run x.yaml -o run train.batch=3");
}

TEST(an_unpacked_bundle_makes_the_same_table_at_another_path)
{
    shell_expect(0, "peat results here/run > table");
    shell_expect(0, "peat bundle here/run -o x.tar.gz && tar -xzf x.tar.gz -C far");
    shell_expect(0, "cd far && peat run x > again");
    shell_expect(0, "cmp table far/again");
    shell_expect(0, "peat results far/x > read && cmp table read");
    shell_expect(0, "peat verify here/run | grep ^hash > was; peat verify far/x | grep ^hash | "
                    "cmp - was");
    shell_expect(0, "cmp here/run/resolved.yaml far/x/resolved.yaml");
    shell_expect(0, "cmp here/run/claims.json far/x/claims.json");
}

TEST(packed_by_xz_it_holds_the_same)
{
    shell_expect(0, "peat bundle here/run -o x.tar.gz && peat bundle here/run -o x.tar.xz");
    shell_expect(0, "mkdir gz xz && tar -xf x.tar.gz -C gz && tar -xf x.tar.xz -C xz");
    shell_expect(0, "diff -r gz xz && ! cmp -s x.tar.gz x.tar.xz");
    shell_expect(0, "mv x.tar.xz y && peat bundle here/run -o x.tar.xz && cmp x.tar.xz y");
    shell_says(2, "'x.zip' ends in neither .tar.gz nor .tar.xz", "peat bundle here/run -o x.zip");
    shell_expect(0, "test ! -e x.zip");
}

TEST(every_cell_of_it_can_be_made_again_to_the_same_bits)
{
    shell_expect(0, "peat bundle here/run -o x.tar.gz && tar -xzf x.tar.gz -C far");
    shell_expect(0, "cd far && peat run x -o again");
    shell_expect(0, "for d in here/run far/again; do peat results $d --format csv --columns "
                    "cell,metric,length,value,config_sha256 > $(basename $d).csv; done");
    shell_expect(0, "cmp run.csv again.csv");
}

TEST(it_is_read_without_the_data)
{
    shell_expect(0, "peat results here/run > table");
    shell_expect(0, "peat bundle here/run -o x.tar.gz && tar -xzf x.tar.gz -C far");
    shell_expect(0, "rm -r here");
    shell_expect(0, "peat results far/x | cmp - table");
    shell_says(0, "6 cells, 6 finished, 0 problems", "peat verify far/x");
    assert_printed("not checked: the weights, which were left out of the bundle");
    assert_printed("one.txt', which is not here");
    shell_expect(0, "peat report far/x -o x.html");
    shell_says(2, "no checkpoint", "peat export far/x 0 -o w.safetensors");
}

TEST(weights_are_in_it_when_asked_for)
{
    shell_expect(0, "peat bundle here/run --weights -o x.tar.gz && tar -xzf x.tar.gz -C far");
    shell_says(0, "6 finished, 0 problems", "peat verify far/x");
    ck_assert(!shell_printed("left out"));
    shell_expect(0, "peat export far/x 0 -o w.safetensors");
    shell_expect(0, "printf x >> $(ls far/x/cells/none*s0*/ckpt/*/model.safetensors)");
    shell_expect(1, "peat verify far/x");
}

/* Cells with 41 training lines and four evaluations: here/long, and unpacked far/x. */
static void bundle_long_curves(void)
{
    shell_expect(0, "cd here && peat run x.yaml -o long -q train.steps=400 eval.every=100 seeds=1");
    shell_expect(0, "peat bundle here/long -o x.tar.gz && tar -xzf x.tar.gz -C far");
}

/* By the steps in the first file, the lines of the second as they are in a bundle. */
static const char thin_awk[] =
    "NR == FNR { kept[$1]; last = $1; next }\n"
    "!/\"split\":\"train\"/ || $2 == last { print; next }\n"
    "$2 in kept { printf "
    "\"{\\\"step\\\":%d,\\\"metric\\\":\\\"loss\\\",\\\"split\\\":\\\"train\\\","
    "\\\"length\\\":%d,\\\"value\\\":%.5g,\\\"lr\\\":%.5g,\\\"grad_norm\\\":%.5g}\\n\", "
    "$2, $8, $10, $12, $14 }\n";

TEST(curves_keep_evaluations_and_five_digits_of_steps_even_in_their_logarithm)
{
    bundle_long_curves();
    shell_write("thin.awk", thin_awk);
    shell_expect(0, "seq 0 99 | awk '{ s = int(exp(log(400) * $1 / 99) + 0.5); "
                    "print (s > 1 ? int((s + 9) / 10) * 10 : 1) }' | uniq > steps");
    shell_says(0, "33 steps\n", "wc -l steps");
    shell_expect(0, "for c in here/long/cells/*; do awk -F '[:,]' -f thin.awk steps "
                    "$c/metrics.jsonl | cmp - far/x/cells/${c##*/}/metrics.jsonl || exit 1; done");
    shell_expect(0, "peat bundle far/x -o y.tar.gz && cmp x.tar.gz y.tar.gz");
    shell_says(2, "was made without --curves", "peat bundle far/x --curves -o y.tar.gz");
    shell_expect(0,
                 "for o in --curves --weights; do peat bundle here/long $o -o y.tar.gz && "
                 "tar -xzf y.tar.gz && for c in here/long/cells/*; do cmp $c/metrics.jsonl "
                 "x/cells/${c##*/}/metrics.jsonl || exit 1; done; done; ! ls x/cells/*/thinned*");
}

TEST(thinned_curve_is_read_and_verified_by_its_own_seal)
{
    bundle_long_curves();
    shell_expect(0, "peat verify here/long | grep ^hash > was; peat verify far/x > said && "
                    "grep -q 'curve thinned' said && grep ^hash said | cmp - was");
    shell_expect(0, "peat results far/x -f csv --all-steps | grep -q ',train,'");
    shell_says(0, "done", "peat status far/x");
    shell_says(0, ": same\n", "peat verify far/x --retrain 1 --seed 1 task.path=here/one.txt");
    shell_expect(0, "cp -r far/x other && set -- other/cells/* && "
                    "sed -i '2s/\"value\":./\"value\":9/' $1/metrics.jsonl && "
                    "cp $1/thinned.json $2/ && rm $3/thinned.json");
    shell_says(1, ": metrics.jsonl is not the one that thinned.json was sealed with",
               "peat verify other");
    assert_printed(" 3 problems");
    shell_expect(0, "cd here && peat run ../other && ! ls ../other/cells/*/thinned.json && "
                    "peat verify ../other | grep ^hash | cmp - ../was");
}

TEST(equal_directories_give_equal_bytes)
{
    shell_expect(0, "peat bundle here/run -o one.tar.gz");
    shell_expect(0, "cp -r -- here/run '-\\n odd, folder' && mkdir -- '-\\t tmp' && "
                    "TMPDIR='-\\t tmp' peat bundle -o odd.tar.gz -- '-\\n odd, folder' && "
                    "cmp one.tar.gz odd.tar.gz");
    shell_expect(0, "cp -r here/run copy && find copy -exec touch -d 2001-02-03 {} + && "
                    "chmod -R g-r copy");
    shell_expect(0, "sleep 1.1; peat bundle copy -o two.tar.gz && cmp one.tar.gz two.tar.gz");
    shell_expect(0, "cd far && tar -xzf ../one.tar.gz && peat bundle x -o ../three.tar.gz");
    shell_expect(0, "cmp one.tar.gz three.tar.gz");
    shell_says(0, "x/bundle.json\n", "tar -tzf one.tar.gz | head -1");
    shell_says(0, "\"weights\": false", "cat far/x/bundle.json");
    assert_printed("\"environment\": {");
    shell_expect(1, "grep -a \"$PWD/far\" far/x/bundle.json");
}

/* A header holds 100 bytes of a name; a longer one stands in a pax header, without times. */
TEST(paths_of_any_length_are_unpacked_as_they_were)
{
    static const int label[] = {10, 60};
    shell_expect(0, "cp here/one.txt .");
    for (int i = 0; i < 2; i++) {
        shell_expect(0,
                     "head -c %d /dev/zero | tr '\\0' v > v; "
                     "sed \"s/none, learned/{plugin: learned, label: $(cat v)}/; "
                     "s/\\[sum, {/[{label: $(cat v), /; "
                     "s/^name: x/name: $(head -c 64 /dev/zero | tr '\\0' n)/; "
                     "/^report/,\\$d\" here/x.yaml > l.yaml",
                     label[i]);
        shell_expect(0, "rm -rf out && peat run l.yaml -o run && peat bundle run --weights -o "
                        "l.tar.gz && rm -r run && mkdir out && tar -xzf l.tar.gz -C out");
        shell_expect(0, "peat verify out/n*");
        ck_assert(!shell_printed("left out"));
        shell_expect(0, "tar -tzf l.tar.gz | awk 'length > 130' | grep -q .");
        shell_expect(0, "gzip -dc l.tar.gz | grep -aq ' path=n'");
        shell_expect(1, "gzip -dc l.tar.gz | grep -aE ' [amc]time='");
    }
}

/* Regular files of nobody, below one folder: no tar can write beside it. */
TEST(its_members_are_files_of_known_names)
{
    static const char name[] =
        "^x/(bundle.json|claims.json|experiment.yaml|plan.json|resolved.yaml|"
        "schemes.json|"
        "cells/[A-Za-z0-9][-A-Za-z0-9._+=]*/(config.json|meta.json|metrics.jsonl|result.json|"
        "ckpt/step-[0-9]{8}/(model.safetensors|state.json)))$";
    shell_expect(0, "echo extra > here/run/extra; mkdir here/run/cells/-e; ln -s /etc/passwd "
                    "\"$(ls -d here/run/cells/none*s0*)/extra\"");
    shell_expect(0, "peat inspect here/run && peat bundle here/run --weights -o x.tar.gz");
    shell_says(0, "42\n", "tar -tzf x.tar.gz | wc -l");
    shell_expect(1, "tar -tzf x.tar.gz | grep -vE '%s'", name);
    shell_expect(1,
                 "tar --numeric-owner -tvzf x.tar.gz | grep -v '^-rw-r--r-- 0/0 .* 1970-01-01 '");
    shell_expect(0, "cd far && tar -xzf ../x.tar.gz && test \"$(ls -A)\" = x");
}

/* Of a seal that is gone nothing is asked: the file was edited by hand. */
#define UNSEALED "sed -zi 's/,\\n *\"check\": \"[0-9a-f]*\"//;%s' here/run/plan.json"

TEST(a_plan_whose_names_lead_elsewhere_is_refused_by_every_verb)
{
    static const char *const edit[] = {
        "s/\"experiment\": \"x\"/\"experiment\": \"..\\/evil\"/",
        "s/\"experiment\": \"x\"/\"experiment\": \"\\/abs\"/",
        "s/\"experiment\": \"x\"/\"experiment\": \"-x\"/",
        "s/\"experiment\": \"x\"/\"experiment\": \"x\\\\ny\"/",
        "s/\"id\": \"none/\"id\": \"..\\/none/",
        "s/\"id\": \"none/\"id\": \"a b/",
    };
    static const char *const verb[] = {"bundle here/run -o x.tar.gz",
                                       "results here/run",
                                       "status here/run",
                                       "verify here/run",
                                       "report here/run -o x.html",
                                       "compare here/run none.sum learned.sum",
                                       "plot here/run --kind bars -o x.svg",
                                       "logs here/run 0",
                                       "run here/x.yaml -o here/run"};
    shell_expect(0, "cp here/run/plan.json was");
    for (size_t i = 0; i < sizeof(edit) / sizeof(*edit); i++) {
        shell_expect(0, "cp was here/run/plan.json; " UNSEALED, edit[i]);
        for (size_t k = 0; k < sizeof(verb) / sizeof(*verb); k++) {
            shell_says(2, i < 4 ? "an experiment cannot be called '" : "of cell 0 cannot be '",
                       "peat %s", verb[k]);
            ck_assert_ptr_eq(strchr(shell.printed.text, '\n'),
                             shell.printed.text + shell.printed.n - 1);
        }
    }
    ck_assert(!shell_has("x.tar.gz"));
}

/* A link leads to what was there, so that all but the link is right. */
TEST(what_is_no_file_of_its_own_is_refused_and_not_followed)
{
    static const char *const file[] = {"experiment.yaml",
                                       "resolved.yaml",
                                       "claims.json",
                                       "plan.json",
                                       "cells",
                                       "cells/N",
                                       "cells/N/ckpt",
                                       "cells/N/config.json",
                                       "cells/N/diagnose.json",
                                       "cells/N/end.json",
                                       "cells/N/meta.json",
                                       "cells/N/metrics.jsonl",
                                       "cells/N/result.json",
                                       "cells/N/stale.json",
                                       "cells/N/ckpt/step-00000006",
                                       "cells/N/ckpt/step-00000006/state.json",
                                       "cells/N/ckpt/step-00000006/model.safetensors"};
    static const char *const instead[] = {"ln -s $OLDPWD/was", "mkfifo"};
    for (size_t i = 0; i < sizeof(file) / sizeof(*file); i++)
        for (int k = 0; k < 2; k++) {
            shell_expect(0,
                         "rm -rf run was && cp -r here/run run && cd run && "
                         "p=$(echo %s | sed \"s,/N,/$(ls cells | head -1),\"); "
                         "mv $p ../was 2>/dev/null || echo '{}' > ../was; %s $p",
                         file[i], instead[k]);
            shell_expect(2, "timeout 60 peat bundle run --weights -o x.tar.gz");
            ck_assert_msg(k || shell_printed("links and special files are not bundled") ||
                              shell_printed("`peat verify run`"),
                          "%s: %s", file[i], shell.printed.text);
            ck_assert(!shell_has("x.tar.gz"));
        }
}

TEST(files_that_only_claim_to_be_endless_are_refused_at_once)
{
    static const char *const file[] = {"experiment.yaml",
                                       "resolved.yaml",
                                       "claims.json",
                                       "cells/*s0*/metrics.jsonl",
                                       "cells/*s0*/diagnose.json",
                                       "cells/*s0*/ckpt/*/model.safetensors"};
    for (size_t i = 0; i < sizeof(file) / sizeof(*file); i++) {
        shell_expect(0,
                     "rm -rf run && cp -r here/run run && truncate -s 64G $(ls run/%s || echo "
                     "run/$(cd run; ls -d cells/*s0* | head -1)/diagnose.json)",
                     file[i]);
        shell_expect(2, "timeout 60 peat bundle run --weights -o x.tar.gz");
        ck_assert(!shell_has("x.tar.gz"));
    }
}

TEST(what_verify_calls_a_problem_is_not_bundled)
{
    static const struct {
        const char *crime, *said;
        bool of_weights;
    } row[] = {
        {"printf x | dd of=$(ls ckpt/*/model.safetensors) bs=1 seek=300 conv=notrunc",
         "model.safetensors is not the one that result.json was sealed with", true},
        {"sed -i 's/\"step\": 6/\"step\": 5/' ckpt/*/state.json",
         "state.json does not have its own checksum", true},
        {"rm ckpt/*/model.safetensors", "model.safetensors is missing", true},
        {"sed -i 's/first/other/' ../../claims.json", "claims.json' is damaged", false},
        {"sed -i '1d' metrics.jsonl", "metrics.jsonl is not the one", false},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        shell_expect(0, "rm -rf run x.tar.gz && cp -r here/run run && cd run/cells/none*s0* && %s",
                     row[i].crime);
        shell_says(2, row[i].said, "peat bundle run --weights -o x.tar.gz");
        assert_printed("`peat verify run` has all of it");
        shell_expect(1, "peat verify run");
        ck_assert(!shell_has("x.tar.gz"));
        shell_expect(row[i].of_weights ? 0 : 2, "peat bundle run -o x.tar.gz");
    }
}

/* Plugins and data are not in it. */
TEST(a_bundle_asks_nothing_of_what_is_elsewhere)
{
    shell_expect(0, "echo more >> here/one.txt");
    shell_expect(1, "peat verify here/run");
    shell_expect(0, "peat bundle here/run -o x.tar.gz");
}

TEST(programs_that_are_missing_or_fail_are_one_line)
{
    shell_expect(0, "mkdir bin none tmp; ln -s $(command -v tar) $(command -v sh) bin; "
                    "peat=$(command -v peat); "
                    "echo \"PATH=$PWD/none $peat bundle here/run -o x.tar.gz\" > no-tar; "
                    "echo \"PATH=$PWD/bin $peat bundle here/run -o x.tar.xz\" > no-xz; "
                    "echo \"ulimit -f 1; TMPDIR=$PWD/tmp peat bundle here/run --weights -o "
                    "x.tar.gz\" > no-room");
    shell_says(2, "tar is not installed", "sh ./no-tar");
    shell_says(2, "tar cannot make the bundle: ", "sh ./no-xz");
    assert_printed("xz");
    shell_says(2, "peat: ", "sh ./no-room");
    shell_expect(1, "ls x.tar* tmp | grep -v :");
}

TEST(a_stop_ends_tar_and_leaves_nothing)
{
    shell_expect(0, "mkdir slow tmp && printf '#!/bin/sh\nsleep 100\n' > slow/tar && "
                    "chmod +x slow/tar");
    shell_expect(130, INTERRUPTED("PATH=$PWD/slow:$PATH TMPDIR=$PWD/tmp peat bundle here/run "
                                  "-o x.tar.gz",
                                  ANY("tmp/*/files")));
    shell_expect(1, "ls x.tar* tmp/* || pgrep -f \"$PWD/slow\"");
}

TEST(options_of_tar_in_the_environment_change_nothing)
{
    shell_expect(0, "peat bundle here/run -o x.tar.gz && "
                    "TAR_OPTIONS='--owner=7 --verbose' GZIP=-1 peat bundle "
                    "here/run -o y.tar.gz && cmp x.tar.gz y.tar.gz");
}

TEST(a_damaged_cell_is_not_bundled)
{
    shell_expect(0, "sed -i 's/\"value\":/\"value\": 1/' here/run/cells/none*s0*/metrics.jsonl");
    shell_says(2, "peat verify here/run", "peat bundle here/run -o x.tar.gz");
    ck_assert(!shell_has("x.tar.gz"));
}

TEST(what_is_not_finished_is_said)
{
    shell_expect(0, "rm here/run/cells/none*s0*/result.json");
    shell_says(0, "1 cell is not finished", "peat bundle here/run -o x.tar.gz");
    shell_says(2, "name the file to write: -o FILE.tar.gz", "peat bundle here/run");
    shell_says(2, "is not a run directory", "peat bundle far -o x.tar.gz");
}

int main(void)
{
    return run_tests(
        (struct tests){"bundle", open_run, shell_close, .seconds = 120, .needs = "tar"});
}
