/* SPDX-License-Identifier: MIT */
/*
 * test_old_plugins.c: plugins built long ago still load, and give the same bits.
 *
 * old/ has binaries for x86-64 that were built with the headers that ABI 0.1 began with. They are
 * never built again: docs/abi.md.
 */
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] =
    "version: 1\n"
    "name: e\n"
    "defaults:\n"
    "  task: {plugin: %s, symbols: 4}\n"
    "  position: {scheme: [{plugin: %s}, {plugin: sinusoidal}], combine: {plugin: %s}}\n"
    "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
    "  train: {steps: 4, batch: 4, seq_len: 11}\n"
    "seeds: 1\n";

static void write_experiment(const char *name, const char *task, const char *scheme,
                             const char *combine)
{
    struct strbuf yaml;
    strbuf_init(&yaml);
    strbuf_addf(&yaml, experiment, task, scheme, combine);
    shell_write(name, yaml.text);
    strbuf_release(&yaml);
}

static void open_experiments(void)
{
    shell_open();
    shell_expect(0, "cp \"$PEAT_SOURCE\"/tests/integration/old/*.so .");
    write_experiment("new.yaml", "copy", "rotary", "gate_scalar");
    write_experiment("old.yaml", "./copy.so", "./rotary.so", "./gate_scalar.so");
}

TEST(old_binaries_of_each_kind_give_the_bits_of_todays)
{
    shell_expect(0, "peat run new.yaml -o new && peat run old.yaml -o old");
    shell_expect(0, "grep -ho '\"weights_hash\": *\"[0-9a-f]*\"' new/cells/*/result.json >hashes");
    shell_expect(0, "test $(wc -l <hashes) = 1");
    shell_expect(0, "grep -ho '\"weights_hash\": *\"[0-9a-f]*\"' old/cells/*/result.json | "
                    "diff hashes -");
}

LOOP_TEST(old_binaries_pass_the_check, 3)
{
    shell_expect(0, "peat plugins check ./%s.so",
                 (const char *const[]){"rotary", "gate_scalar", "copy"}[_i]);
}

/* A task that knows of no test part is refused, and says which setting runs it. */
TEST(an_old_task_has_no_test_part)
{
    shell_expect(0, "sed -i 's/version: 1/version: 2/' old.yaml");
    shell_says(2, "task 'copy' has no test part: eval.test must be 0, not 0.5",
               "peat validate old.yaml");
    shell_expect(0, "peat validate old.yaml eval.test=0");
}

int main(void)
{
#ifndef __x86_64__
    return skip_all("the old binaries are for x86-64, and this machine is not");
#endif
    return run_tests((struct tests){.subject = "old_plugins",
                                    .open = open_experiments,
                                    .close = shell_close,
                                    .seconds = 120,
                                    .needs = "PEAT PEAT_SOURCE"});
}
