/* SPDX-License-Identifier: MIT */
/* test_bundle.c: a run directory as one file, and that file as a run directory. */
#include <stdlib.h>
#include <string.h>

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

START_TEST(an_unpacked_bundle_makes_the_same_table_at_another_path)
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
END_TEST

START_TEST(packed_by_xz_it_holds_the_same)
{
    shell_expect(0, "peat bundle here/run -o x.tar.gz && peat bundle here/run -o x.tar.xz");
    shell_expect(0, "mkdir gz xz && tar -xf x.tar.gz -C gz && tar -xf x.tar.xz -C xz");
    shell_expect(0, "diff -r gz xz && ! cmp -s x.tar.gz x.tar.xz");
    shell_expect(0, "mv x.tar.xz y && peat bundle here/run -o x.tar.xz && cmp x.tar.xz y");
    shell_says(2, "'x.zip' ends in neither .tar.gz nor .tar.xz", "peat bundle here/run -o x.zip");
    shell_expect(0, "test ! -e x.zip");
}
END_TEST

START_TEST(every_cell_of_it_can_be_made_again_to_the_same_bits)
{
    shell_expect(0, "peat bundle here/run -o x.tar.gz && tar -xzf x.tar.gz -C far");
    shell_expect(0, "cd far && peat run x -o again");
    shell_expect(0, "for d in here/run far/again; do peat results $d --format csv --columns "
                    "cell,metric,length,value,config_sha256 > $(basename $d).csv; done");
    shell_expect(0, "cmp run.csv again.csv");
}
END_TEST

START_TEST(it_is_read_without_the_data)
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
END_TEST

START_TEST(weights_are_in_it_when_asked_for)
{
    shell_expect(0, "peat bundle here/run --weights -o x.tar.gz && tar -xzf x.tar.gz -C far");
    shell_says(0, "6 finished, 0 problems", "peat verify far/x");
    ck_assert(!shell_printed("left out"));
    shell_expect(0, "peat export far/x 0 -o w.safetensors");
    shell_expect(0, "printf x >> $(ls far/x/cells/none*s0*/ckpt/*/model.safetensors)");
    shell_expect(1, "peat verify far/x");
}
END_TEST

START_TEST(equal_directories_give_equal_bytes)
{
    shell_expect(0, "peat bundle here/run -o one.tar.gz");
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
END_TEST

/* A header holds 100 bytes of a name and 155 of what is before it; more is in a file of its own. */
START_TEST(paths_of_any_length_are_unpacked_as_they_were)
{
    static const struct {
        int label;
        bool long_name;
    } run[] = {{10, false}, {60, true}};
    shell_expect(0, "cp here/one.txt .");
    for (int i = 0; i < 2; i++) {
        shell_expect(0,
                     "head -c %d /dev/zero | tr '\\0' v > v; "
                     "sed \"s/none, learned/{plugin: learned, label: $(cat v)}/; "
                     "s/\\[sum, {/[{label: $(cat v), /; "
                     "s/^name: x/name: $(head -c 64 /dev/zero | tr '\\0' n)/; "
                     "/^report/,\\$d\" here/x.yaml > l.yaml",
                     run[i].label);
        shell_expect(0, "rm -rf out && peat run l.yaml -o run && peat bundle run --weights -o "
                        "l.tar.gz && rm -r run && mkdir out && tar -xzf l.tar.gz -C out");
        shell_expect(0, "peat verify out/n*");
        ck_assert(!shell_printed("left out"));
        shell_expect(0, "tar -tzf l.tar.gz | awk 'length > 130' | grep -q .");
        shell_expect(run[i].long_name ? 0 : 1, "gzip -dc l.tar.gz | grep -aq PaxHeader");
    }
}
END_TEST

START_TEST(a_damaged_cell_is_not_bundled)
{
    shell_expect(0, "sed -i 's/\"value\":/\"value\": 1/' here/run/cells/none*s0*/metrics.jsonl");
    shell_says(2, "peat verify here/run", "peat bundle here/run -o x.tar.gz");
    ck_assert(!shell_has("x.tar.gz"));
}
END_TEST

START_TEST(what_is_not_finished_is_said)
{
    shell_expect(0, "rm here/run/cells/none*s0*/result.json");
    shell_says(0, "1 cell is not finished", "peat bundle here/run -o x.tar.gz");
    shell_says(2, "where to? give -o FILE.tar.gz", "peat bundle here/run");
    shell_says(2, "no run directory", "peat bundle far -o x.tar.gz");
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"bundle", open_run, shell_close, .seconds = 120, .needs = "tar"},
        TESTS(an_unpacked_bundle_makes_the_same_table_at_another_path,
              packed_by_xz_it_holds_the_same, every_cell_of_it_can_be_made_again_to_the_same_bits,
              it_is_read_without_the_data, weights_are_in_it_when_asked_for,
              equal_directories_give_equal_bytes, paths_of_any_length_are_unpacked_as_they_were,
              a_damaged_cell_is_not_bundled, what_is_not_finished_is_said));
}
