/* SPDX-License-Identifier: MIT */
/* test_schema.c: the JSON Schema of experiments, judged by python3-jsonschema. */

#include "support/shell.h"
#include "support/support.h"

#define JUDGE "/usr/bin/python3 \"$PEAT_SOURCE\"/tests/integration/schema.py schema.json "

static void open_schema(void)
{
    shell_open();
    shell_says(0, "# yaml-language-server: $schema=schema.json", "peat schema -o schema.json");
}

TEST(published_experiments_fit_and_mistakes_do_not)
{
    shell_expect(0, "b=\"$PEAT_SOURCE\"/tests/integration/bad; mkdir bad; "
                    "awk -v dir=bad -f \"$b\"/make.awk \"$b\"/mistakes.txt");
    shell_expect(0, JUDGE "\"$PEAT_SOURCE\"/experiments bad");
}

TEST(it_is_printed_too_and_knows_every_plugin)
{
    shell_expect(0, "peat schema 2>line | cmp - schema.json && grep -q 'schema=FILE' line");
    shell_expect(
        0, "for p in $(peat plugins list | awk 'NR > 1 { print $2 }'); do "
           "grep -q \"\\\"const\\\": \\\"$p\\\"\" schema.json || { echo no $p; exit 1; }; done");
}

int main(void)
{
    return run_tests((struct tests){.subject = "schema",
                                    .open = open_schema,
                                    .close = shell_close,
                                    .seconds = 60,
                                    .needs = "PEAT PEAT_SOURCE python3-jsonschema python3-yaml"});
}
