/* SPDX-License-Identifier: MIT */
/*
 * test_swap.c: data that are replaced while they are read. A cell trains on the bytes that its
 * hash names, or ends with one line.
 *
 * Once a task of the test swaps the file between the hash and its own reading (planted/swap.c),
 * then a loop swaps it all the time under the task text. --long: 2,000 runs under that loop.
 */
#include "support/shell.h"
#include "support/support.h"

enum { RUNS = 50 };

/* ---- by the task itself ---- */

static void open_planted(void)
{
    shell_open();
    shell_expect(0, "${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC -fvisibility=hidden "
                    "-I\"$PEAT_SOURCE/include\" \"$PEAT_SOURCE/tests/contract/planted/swap.c\" "
                    "-o swap.so");
    shell_write("e.yaml", "version: 1\nname: swap\ndefaults:\n"
                          "  task: {plugin: ./swap.so, path: data}\n"
                          "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                          "  train: {steps: 2, batch: 2, seq_len: 8}\n"
                          "matrix:\n  position.scheme: [none]\n");
    shell_write("data", "AAAA");
    shell_write("other", "BBBBBB");
}

/* "260" is the sum of AAAA, "396" that of BBBBBB. */
TEST(cell_is_given_the_bytes_that_were_hashed)
{
    shell_expect(0, "peat plan e.yaml -o run --write && cp other data.swap");
    shell_expect(0, "touch swap.now && peat cell run 0 && test ! -e data.swap");
    shell_expect(0, "grep -h given run/cells/*/log.txt | tail -n 1");
    assert_printed("given 4 bytes, sum 260");
    shell_expect(0, "printf AAAA | sha256sum | cut -c 1-64 > hash && "
                    "grep -q \"$(cat hash)\" run/cells/*/meta.json");
}

TEST(cell_whose_data_changed_since_the_plan_ends_with_what_to_do)
{
    shell_expect(0, "peat plan e.yaml -o run --write && cp other data");
    shell_says(1,
               "the data or a plugin has changed since the cell was planned; run `peat run` again",
               "peat cell run 0");
    shell_expect(2, "ls run/cells/*/result.json");
}

/* Beyond what a plan keeps it reads again, and then other bytes are refused: unit.data_files. */
TEST(plan_counts_with_the_bytes_that_were_hashed)
{
    shell_expect(0, "cp other data.swap; touch swap.now; peat plan e.yaml -o run --write");
    shell_expect(0, "test ! -e data.swap");
    shell_says(1, "the data or a plugin has changed", "peat cell run 0");
}

/* ---- by a loop ---- */

static void open_text(void)
{
    shell_open();
    shell_write("e.yaml", "version: 1\nname: swap\ndefaults:\n"
                          "  task: {plugin: text, path: data}\n"
                          "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                          "  train: {steps: 2, batch: 2, seq_len: 8}\n"
                          "  eval: {lengths: [8], tokens: 32}\n"
                          "matrix:\n  position.scheme: [none]\n");
    shell_expect(0, "yes 'one text of this kind' | head -c 4000 > A; "
                    "yes 'AND QUITE ANOTHER ONE' | head -c 9000 > B");
}

static const char script[] =
    "fact() { sed -n 's/.*\"weights_hash\": *\"\\([^\"]*\\)\".*/\\1/p' $1/cells/*/result.json; }\n"
    "data() { sed -n '/\"data\"/,$ s/.*\"sha256\": *\"\\([0-9a-f]*\\)\".*/\\1/p' "
    "$1/cells/*/meta.json | head -n 1; }\n"
    "for f in A B; do cp $f data; peat run e.yaml -o only$f -q > /dev/null || exit 9; done\n"
    "[ \"$(fact onlyA)\" != \"$(fact onlyB)\" ] || exit 8\n"
    "while :; do cp A a && mv a data; cp B b && mv b data; done &\n"
    "loop=$!\n"
    "trained=0 refused=0 wrong=0\n"
    "for i in $(seq \"$1\"); do\n"
    "  if peat run e.yaml -o run$i -q > /dev/null 2> said; then\n"
    "    trained=$((trained + 1))\n"
    "    for f in A B; do\n"
    "      [ \"$(data run$i)\" != \"$(data only$f)\" ] ||\n"
    "        [ \"$(fact run$i)\" = \"$(fact only$f)\" ] || wrong=$((wrong + 1))\n"
    "    done\n"
    "  else\n"
    "    refused=$((refused + 1))\n"
    "    grep -q changed said run$i/cells/*/log.txt || { cat said; wrong=$((wrong + 1)); }\n"
    "  fi\n"
    "  rm -rf run$i\n"
    "done\n"
    "kill $loop\n"
    "echo $trained trained, $refused refused, $wrong wrong\n"
    "[ $trained -gt 0 ] && [ $wrong -eq 0 ]\n";

static bool is_long;

GROUP(loop)

/* Check cannot count the time of a test that takes more than 35 minutes. */
LOOP_TEST(no_run_trains_on_data_other_than_its_hash_says, is_long ? 2000 / RUNS : 1)
{
    shell_write("swaps.sh", script);
    shell_expect(0, "sh swaps.sh %d", RUNS);
    printf("%s", shell.printed.text);
}

int main(int argc, char **argv)
{
    is_long = argc > 1 && !strcmp(argv[1], "--long");
    const struct tests swaps = {"swap by the task", open_planted, shell_close, .seconds = 120,
                                .needs = "PEAT_SOURCE cc"};
    int bad = is_long ? 0 : run_tests(swaps);
    return run_tests((struct tests){"swap by a loop", open_text, shell_close, .seconds = 1200,
                                    .group = "loop"}) ||
           bad;
}
