/* SPDX-License-Identifier: MIT */
/* test_export.c: what an exported file says of its cell, trained or not. */
#include "support/shell.h"
#include "support/support.h"

static const char grid[] = "version: 1\n"
                           "name: export\n"
                           "defaults:\n"
                           "  task: {plugin: text, path: text.txt}\n"
                           "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                           "  train: {steps: 4, batch: 2, seq_len: 16}\n"
                           "  eval: {tokens: 32}\n"
                           "  position: {combine: sum}\n"
                           "matrix:\n"
                           "  position.scheme: [fire, [learned, {plugin: learned, scale: 1}]]\n"
                           "seeds: 1\n";

static void open_grid(void)
{
    shell_open();
    shell_write("export.yaml", grid);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/task.h > text.txt");
    shell_expect(0, "peat run export.yaml -o runs -t 1");
}

/* HEAD FILE, BODY FILE: what stands before the numbers, as JSON, and the numbers. */
static const char parts[] = "size() { od -An -tu8 -N8 $1 | tr -d ' '; }\n"
                            "head() { tail -c +9 $1 | command head -c $(size $1); }\n"
                            "body() { tail -c +$((9 + $(size $1))) $1; }\n";

/* Quotes inside a value are not escaped in `text`. */
static void expect_in_head(const char *file, const char *text)
{
    char command[512];
    shell_write("parts.sh", parts);
    snprintf(command, sizeof(command), ". ./parts.sh; head %s | tr -d '\\\\' | grep -qF '%s'", file,
             text);
    shell_expect(0, "%s", command);
}

START_TEST(every_export_has_what_plugins_chose)
{
    shell_expect(0, "peat export runs fire.-.s0 -o end.st");
    expect_in_head("end.st", "\"fire.init_threshold\":4");
    expect_in_head("end.st", "\"peat_step\":\"4\"");
    shell_expect(0, "peat export runs fire.-.s0 --start -o start.st");
    expect_in_head("start.st", "\"fire.init_threshold\":4");
    expect_in_head("start.st", "\"peat_step\":\"0\"");
    shell_expect(0, "rm runs/cells/fire*/result.json && peat export runs fire.-.s0 -o half.st");
    expect_in_head("half.st", "\"fire.init_threshold\":4");
    expect_in_head("half.st", "\"length_unit\":\"tokens\"");
}
END_TEST

START_TEST(a_scheme_that_is_listed_twice_chose_twice)
{
    shell_expect(0, "peat export runs 1 -o end.st");
    expect_in_head("end.st", "\"position.0.learned.scale\":4,");
    expect_in_head("end.st", "\"position.1.learned.scale\":1}");
}
END_TEST

START_TEST(the_weights_before_training_are_those_that_training_starts_from)
{
    shell_expect(0, "peat export runs 1 --start -o before.st");
    shell_expect(0, "rm -r runs/cells/learned*/ckpt runs/cells/learned*/result.json");
    shell_expect(0, "peat export runs 1 --start -o untrained.st");
    shell_write("parts.sh", parts);
    shell_expect(0, ". ./parts.sh; body before.st > before; body untrained.st | cmp - before && "
                    "test $(wc -c < before) -gt 10000");
    shell_says(2, "has no checkpoint", "peat export runs 1 -o none.st");
    shell_expect(1, "test -e none.st");
}
END_TEST

START_TEST(other_data_than_the_cell_was_planned_with_is_refused)
{
    shell_expect(0, "echo more >> text.txt");
    shell_says(2, "is not what cell 'fire.-.s0' was trained on",
               "peat export runs fire.-.s0 --start -o start.st");
    shell_expect(0, "peat export runs fire.-.s0 -o end.st");
    shell_expect(0, "rm text.txt");
    shell_says(2, "--start needs the cell's plugins and data",
               "peat export runs fire.-.s0 --start -o start.st");
}
END_TEST

int main(void)
{
    return run_list((struct tests){"export", open_grid, shell_close, .seconds = 60},
                    TESTS(every_export_has_what_plugins_chose,
                          a_scheme_that_is_listed_twice_chose_twice,
                          the_weights_before_training_are_those_that_training_starts_from,
                          other_data_than_the_cell_was_planned_with_is_refused));
}
