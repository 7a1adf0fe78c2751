/* SPDX-License-Identifier: MIT */
/* test_large_data.c: data that are mapped into memory, as a user has them. */
#include "support/shell.h"
#include "support/support.h"

/* 640 MiB, nearly all of them a hole: more than the 600 MiB that the limit of this test leaves to
 * a process, of which 512 are for products of matrices. */
static void open_large(void)
{
    shell_open();
    shell_expect(
        0, "{ head -c 2 /dev/zero; head -c 200000 $PEAT_SOURCE/experiments/data/genesis.txt; } "
           ">large.bin && truncate -s 640M large.bin");
    shell_write("x.yaml", "version: 1\n"
                          "name: x\n"
                          "defaults:\n"
                          "  task: {plugin: tokens, path: large.bin, vocab: 32768, valid: 1e-5}\n"
                          "  model: {d_model: 8, n_layer: 1, n_head: 2}\n"
                          "  train: {steps: 4, batch: 2, seq_len: 16}\n"
                          "  eval: {tokens: 64}\n"
                          "  position: {scheme: none}\n"
                          "seeds: 1\n"
                          "report: {metric: loss}\n");
}

#if !defined(PEAT_SANITIZED)
TEST(file_that_does_not_fit_into_memory_trains)
{
    shell_expect(0, "ulimit -d 614400; peat run x.yaml -o run");
    shell_says(0, "1 cell, 1 finished, 0 problems", "ulimit -d 614400; peat verify run");
    shell_expect(1,
                 "ulimit -d 614400; python3 -c 'open(\"large.bin\", \"rb\").read()' 2>/dev/null");
}
#endif

/* Large enough to be mapped. */
static void shrink(void)
{
    shell_expect(0, "truncate -s 80M large.bin");
}

/* Runs `steps` steps, and the command as soon as there is a loss. */
#define MEANWHILE                                                                                  \
    "rm -rf run; peat run x.yaml -o run train.steps=%s eval.every=1000000 >said 2>&1 & "           \
    "while ! grep -qs loss run/cells/*/metrics.jsonl && kill -0 $!; do sleep 0.1; done; %s; "      \
    "wait $!; status=$?; cat said; exit $status"

/* The cell trains until the file is written, wherever it is by then and whatever its times say; its
 * checkpoints are of the steps before. */
TEST(write_into_mapped_data_ends_the_cell_with_its_name)
{
#define WRITE(file) "printf x | dd of=" file " conv=notrunc 2>/dev/null"
    static const char *const way[] = {
        WRITE("large.bin"),
        "mv large.bin moved.bin; " WRITE("moved.bin") "; mv moved.bin large.bin",
        "touch -r large.bin times; " WRITE("large.bin") "; touch -r times large.bin",
    };
    shrink();
    for (size_t i = 0; i < sizeof(way) / sizeof(*way); i++) {
        shell_expect(0, "printf '\\000' | dd of=large.bin conv=notrunc 2>/dev/null");
        shell_run(MEANWHILE, "1000000", way[i]);
        assert_printed("large.bin' was written while it was being read");
        assert_printed("1 cell: 1 failed");
    }
}

/* A page that was changed before can be changed again without a new time. */
TEST(write_through_an_earlier_mapping_is_found_at_the_end)
{
    shrink();
    shell_write("map.py", "import mmap, os, subprocess, sys, time\n"
                          "m = mmap.mmap(os.open('large.bin', os.O_RDWR), 0)\n"
                          "m[100] = 1\n"
                          "run = subprocess.Popen(sys.argv[1:])\n"
                          "while subprocess.call('grep -qs loss run/cells/*/metrics.jsonl', "
                          "shell=True):\n"
                          "    time.sleep(0.1)\n"
                          "m[100] = 7\n"
                          "sys.exit(run.wait())\n");
    shell_says(1, "large.bin' was written while it was being read",
               "python3 map.py peat run x.yaml -o run train.steps=8000 2>&1");
    shell_expect(0, "[ ! -e run/cells/*/result.json ] && [ ! -e run/cells/*/ckpt/step-00008000 ]");
}

TEST(mapped_data_may_be_moved_and_removed)
{
    shrink();
    shell_run(MEANWHILE, "2000", "mv large.bin moved.bin; chmod 600 moved.bin; rm moved.bin");
    assert_printed("1 cell: 1 done");
}

int main(void)
{
    return run_tests((struct tests){"large_data", open_large, shell_close, .seconds = 60,
                                    .needs = "PEAT_SOURCE python3"});
}
