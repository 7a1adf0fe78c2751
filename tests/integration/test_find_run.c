/* SPDX-License-Identifier: MIT */
/* test_find_run.c: runs and experiments are found by the words that people type for them. */
#include "support/run_maker.h"
#include "support/shell.h"
#include "support/support.h"

static struct run_maker m;

/* The run `twice` with two rows in runs/, and the experiment file that it would be of. */
static void open_runs(void)
{
    shell_open();
    run_maker_open(&m, "twice");
    run_maker_done(&m, "rotary", "-", 0, 2.5, 2.6);
    run_maker_done(&m, "learned", "sum", 0, 2.7, 2.9);
    run_maker_finish(&m);
    shell_expect(0, "mkdir runs && cp -r %s runs/twice", m.dir);
    shell_write("twice.yaml", "version: 1\nname: twice\ndefaults: {task: copy}\n");
    shell_write("later.yaml", "version: 1\nname: later\ndefaults: {task: copy}\n");
    shell_write("README", "");
}

static void close_runs(void)
{
    run_maker_close(&m);
    shell_close();
}

static const char *const words[] = {"runs/twice",           "twice",         "twice.yaml",
                                    "runs/twice/plan.yaml", "./runs/twice/", "twice/"};
enum { WORDS = sizeof(words) / sizeof(*words) };

LOOP_TEST(a_run_is_its_directory_its_name_or_its_file, WORDS)
{
    shell_expect(0, "cp twice.yaml runs/twice/plan.yaml");
    shell_says(0, "rotary", "peat results %s", words[_i]);
    shell_says(0, "2 done", "peat status %s", words[_i]);
    shell_says(0, "rotary.- against learned.sum", "peat compare %s rotary learned", words[_i]);
    shell_expect(0, "peat results %s %s", words[_i], words[_i]);
    shell_says(2, "has no cell 'nosuch'", "peat logs %s nosuch", words[_i]);
    shell_says(2, "has no cell 'nosuch'", "peat inspect %s nosuch", words[_i]);
}

TEST(a_file_beside_a_run_is_not_its_experiment)
{
    shell_expect(0, "cp -r runs/twice/. . && mv runs/twice runs/later && "
                    "sed -i s/twice/later/ runs/later/plan.json");
    shell_says(0, "later: ", "peat results later.yaml");
    shell_says(0, "twice: ", "cp twice.yaml experiment.yaml; peat results experiment.yaml");
}

static const char labelled[] = "version: 2\nname: arms\ndefaults: {task: copy}\n"
                               "matrix: {arm: {fast: {position.scheme: rotary}}}\n";

/* As an earlier program made it, a directory has scheme and combination in every label. */
TEST(a_directory_keeps_its_labels)
{
    shell_write("arms.yaml", labelled);
    shell_expect(0, "peat plan arms.yaml --write");
    shell_says(0, "\"fast.s0\"", "grep '\"label\"' runs/arms/plan.json");
    shell_expect(0, "peat plan arms.yaml --register | cut -d, -f4 >was");
    shell_expect(0, "python3 -c 'import json; p = json.load(open(\"runs/arms/plan.json\")); "
                    "p.pop(\"check\"); c = p[\"cells\"][0]; c[\"label\"] = c.pop(\"name\"); "
                    "json.dump(p, open(\"runs/arms/plan.json\", \"w\"))'");
    shell_says(0, "\"label\": \"rotary.-.fast.s0\"", "peat plan arms.yaml --json seeds=2");
    assert_printed("\"label\": \"rotary.-.fast.s1\"");
    shell_says(0, "\"label\": \"fast.s0\"", "peat plan arms.yaml --json -o other");
    shell_expect(0, "peat plan arms.yaml --register -o runs/arms | cut -d, -f4 | cmp - was");
}

TEST(a_cell_is_called_by_its_folder_without_the_hash_too)
{
    shell_write("arms.yaml", labelled);
    shell_expect(0, "peat plan arms.yaml --write");
    shell_says(0, "1 todo", "peat run arms.yaml -n --only 'rotary.-.fast.*'");
    shell_expect(0, "peat export runs/arms rotary.-.fast.s0 --start -o start.safetensors");
    shell_expect(0, "peat export runs/arms fast.s0 --start -o start.safetensors");
}

static const struct {
    const char *command, *said;
} typos[] = {
    {"results twce", "peat: there is no run directory 'twce'; did you mean 'runs/twice'?\n"},
    {"status runs/twce",
     "peat: there is no run directory 'runs/twce'; did you mean 'runs/twice'?\n"},
    {"results twice nowhere",
     "peat: there is no run directory 'nowhere'; those in 'runs' are twice\n"},
    {"results elsewhere/nowhere",
     "peat: there is no run directory 'elsewhere/nowhere', nor another in 'elsewhere'\n"},
    {"results later.yaml", "peat: 'later.yaml' was not run yet: there is no 'runs/later'\n"},
    {"results README", "peat: 'README' is a file, not a run directory\n"},
    {"run twce", "peat: there is no experiment 'twce'; did you mean 'twice.yaml'?\n"},
    {"validate twic.yaml",
     "peat: there is no experiment 'twic.yaml'; did you mean 'twice.yaml'?\n"},
    {"plan runs/twce", "peat: there is no run directory 'runs/twce'; did you mean 'runs/twice'?\n"},
    {"run runs/twce", "did you mean 'runs/twice'?\n"},
    {"inspect twce rotary.-.s0", "did you mean 'runs/twice'?\n"},
    {"validate nosuch.yaml", "nosuch.yaml"},
    {"compare rotary learned runs/twice",
     "peat: the run directory comes first: peat compare runs/twice rotary learned\n"},
    {"compare rotary learned twice",
     "peat: the run directory comes first: peat compare runs/twice rotary learned\n"},
    {"train twice", "peat: unknown verb 'train' of 'peat'; did you mean 'run'?\n"},
    {"run twice --seeds 5", "; settings are written key=value, as in seeds=5 or run.device=cuda\n"},
    {"logs rotary.-.s0 twice",
     "peat: the run directory comes first: peat logs runs/twice rotary.-.s0\n"},
};
enum { TYPOS = sizeof(typos) / sizeof(*typos) };

LOOP_TEST(a_name_that_is_nearly_right_is_told, TYPOS)
{
    shell_says(2, typos[_i].said, "peat %s", typos[_i].command);
}

/* A folder that happens to have the name of a run is not taken for it. */
TEST(a_folder_without_a_plan_gives_way_to_the_run)
{
    shell_expect(0, "mkdir twice");
    shell_says(0, "2 done", "peat status twice");
}

/* The best row is that of `peat results`. */
TEST(runs_are_listed_with_their_state_and_best_row)
{
    shell_expect(0, "cp -r runs/twice runs/less && rm runs/less/cells/*/result.json");
    shell_says(0, "twice  2/2    whole", "peat runs");
    assert_printed("less   0/2    2 ");
    shell_says(0, "\"state\": \"whole\"", "peat runs --json");
    shell_says(0, "there are no run directories in 'runs'", "mkdir no && cd no && peat runs 2>&1");
}

int main(void)
{
    return run_tests((struct tests){.subject = "find_run",
                                    .open = open_runs,
                                    .close = close_runs,
                                    .seconds = 60,
                                    .needs = "PEAT PEAT_SOURCE"});
}
