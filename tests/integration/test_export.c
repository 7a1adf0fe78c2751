/* SPDX-License-Identifier: MIT */
/* test_export.c: what an exported file says of its cell, trained or not. */
#include <stdio.h>
#include <stdlib.h>

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

/* FILE KEY: the text of a key of the metadata. */
static const char metadata[] = "import json, struct, sys\n"
                               "raw = open(sys.argv[1], 'rb').read()\n"
                               "n = struct.unpack('<Q', raw[:8])[0]\n"
                               "print(json.loads(raw[8:8 + n])['__metadata__'][sys.argv[2]])\n";

static void expect_metadata(const char *file, const char *key, const char *text)
{
    char command[512];
    shell_write("metadata.py", metadata);
    snprintf(command, sizeof(command), "python3 metadata.py %s %s | grep -qF '%s'", file, key,
             text);
    shell_expect(0, command);
}

START_TEST(every_export_has_what_plugins_chose)
{
    shell_expect(0, "peat export runs fire.-.s0 -o end.st");
    expect_metadata("end.st", "peat_resolved", "\"fire.init_threshold\":4");
    expect_metadata("end.st", "peat_step", "4");
    shell_expect(0, "peat export runs fire.-.s0 --start -o start.st");
    expect_metadata("start.st", "peat_resolved", "\"fire.init_threshold\":4");
    expect_metadata("start.st", "peat_step", "0");
    shell_expect(0, "rm runs/cells/fire*/result.json && peat export runs fire.-.s0 -o half.st");
    expect_metadata("half.st", "peat_resolved", "\"fire.init_threshold\":4");
    expect_metadata("half.st", "length_unit", "tokens");
}
END_TEST

START_TEST(a_scheme_that_is_listed_twice_chose_twice)
{
    shell_expect(0, "peat export runs 1 -o end.st");
    expect_metadata("end.st", "peat_resolved", "\"position.0.learned.scale\":4,");
    expect_metadata("end.st", "peat_resolved", "\"position.1.learned.scale\":1}");
}
END_TEST

START_TEST(the_weights_before_training_are_those_that_training_starts_from)
{
    shell_expect(0, "peat export runs 1 --start -o before.st");
    shell_expect(0, "rm -r runs/cells/learned*/ckpt runs/cells/learned*/result.json");
    shell_expect(0, "peat export runs 1 --start -o untrained.st");
    shell_write("same.py", "raw = [open(f, 'rb').read() for f in ('before.st', 'untrained.st')]\n"
                           "tail = [r[8 + int.from_bytes(r[:8], 'little'):] for r in raw]\n"
                           "assert tail[0] == tail[1] and len(tail[0]) > 10000\n");
    shell_expect(0, "python3 same.py");
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
