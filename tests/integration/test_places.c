/* SPDX-License-Identifier: MIT */
/*
 * test_places.c: what is no file, in every place where a file is read or written. No command waits
 * for it, each says what it is, and nothing outside is changed.
 */
#include "support/shell.h"
#include "support/support.h"

/* What stands in the place of a file, and what is said of it. */
static const struct {
    const char *make; /* $1: its path */
    const char *reason;
} kinds[] = {
    {"mkfifo \"$1\"", "is a named pipe, not a regular file"},
    {"ln -s /dev/zero \"$1\"", "is a "}, /* a device; where it is written, a symbolic link */
    {"mkdir \"$1\"", "is a directory"},
    {"ln -s \"${1##*/}\" \"$1\"", " symbolic link"},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* A finished run `done`, and `cut`, whose cell has no result yet. `peat` has a time limit. */
static void open_runs(void)
{
    shell_open();
    shell_write("e.yaml", "version: 1\nname: places\ndefaults:\n"
                          "  task: {plugin: text, path: data}\n"
                          "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                          "  train: {steps: 2, batch: 2, seq_len: 8}\n"
                          "  eval: {lengths: [8], tokens: 32}\n"
                          "matrix:\n  position.scheme: [none]\n");
    shell_expect(0, "yes abcdefgh | head -c 4000 > data && peat run e.yaml -o done -q && "
                    "cp -r done cut && rm cut/cells/*/result.json");
    shell_expect(0, "mkdir bin && printf '#!/bin/sh\\nexec timeout 60 \"%%s\" \"$@\"\\n' "
                    "\"$(command -v peat)\" > bin/peat && chmod +x bin/peat");
}

#define LIMITED "PATH=$PWD/bin:$PATH; "

/* A copy `trial` of a run with something else at `place`, where CELL is the cell's directory. */
static void plant(const char *run, const char *place, const char *make)
{
    shell_expect(0,
                 "rm -rf trial; cp -r %s trial; cell=$(echo trial/cells/*); "
                 "place=$(echo \"trial/%s\" | sed \"s:trial/CELL:$cell:\"); "
                 "mkdir -p \"${place%%/*}\"; rm -rf \"$place\"; set -- \"$place\"; %s",
                 run, place, make);
}

/* ---- what is read, and by whom it must be said ---- */

static const struct {
    const char *run, *place, *verb;
    int status;
    const char *links; /* said of a loop of links where it is only read; NULL: as everywhere */
} rows[] = {
    {"done", "plan.json", "status trial", 2, "levels of"},
    {"done", "plan.json", "results trial", 2, "levels of"},
    {"done", "plan.json", "run e.yaml -o trial", 2, "levels of"},
    {"done", "plan.json", "plan e.yaml -o trial --write", 2, "levels of"},
    {"done", "plan.json", "cell trial 0", 2, "levels of"},
    {"done", "plan.json", "logs trial 0", 2, "levels of"},
    {"done", "plan.json", "export trial 0 -o out", 2, "levels of"},
    {"done", "plan.json", "diagnose trial 0", 2, "levels of"},
    {"done", "plan.json", "report trial -o out", 2, "levels of"},
    {"done", "plan.json", "plot trial -k bars -o out.svg", 2, "levels of"},
    {"done", "lock", "run e.yaml -o trial", 2, NULL},
    {"done", "lock", "plan e.yaml -o trial --write", 2, NULL},
    {"done", "CELL/config.json", "status trial", 0, "levels of"},
    {"done", "CELL/config.json", "run e.yaml -o trial", 2, NULL},
    {"done", "CELL/result.json", "status trial", 0, "levels of"},
    {"done", "CELL/result.json", "results trial", 0, "levels of"},
    {"done", "CELL/meta.json", "status trial", 0, "levels of"},
    {"done", "CELL/metrics.jsonl", "status trial", 0, "levels of"},
    {"done", "CELL/metrics.jsonl", "results trial", 0, "levels of"},
    {"done", "CELL/log.txt", "logs trial 0", 2, "levels of"},
    {"cut", "CELL/log.txt", "run e.yaml -o trial", 1, NULL},
    {"cut", "CELL/lock", "cell trial 0", 1, NULL},
    {"cut", "CELL/meta.json", "cell trial 0", 1, NULL},
    {"cut", "CELL/metrics.jsonl", "cell trial 0", 1, NULL},
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

LOOP_TEST(each_place_in_a_run_directory_is_refused_by_name, ROWS)
{
    const char *base = strrchr(rows[_i].place, '/');
    base = base ? base + 1 : rows[_i].place;
    for (int k = 0; k < KINDS; k++) {
        bool loop = k == KINDS - 1;
        plant(rows[_i].run, rows[_i].place, kinds[k].make);
        shell_says(rows[_i].status, loop && rows[_i].links ? rows[_i].links : kinds[k].reason,
                   LIMITED "peat %s < /dev/null", rows[_i].verb);
        assert_printed(base);
    }
}

/* ---- every verb with every place ---- */

static const char sweep[] =
    "cell=$(cd done; echo cells/*)\n"
    "for place in plan.json schemes.json experiment.yaml lock slurm/job.json $cell/config.json "
    "$cell/lock "
    "$cell/log.txt $cell/meta.json $cell/metrics.jsonl $cell/result.json $cell/end.json "
    "$cell/running.json $cell/stale.json $cell/diagnose.json $cell/ckpt/step-00000002/state.json "
    "$cell/ckpt/step-00000002/model.safetensors figures/bars.svg; do\n"
    "  while read -r run verb; do\n"
    "    rm -rf trial out*; cp -r $run trial; mkdir -p $(dirname trial/$place)\n"
    "    rm -f trial/$place\n"
    "    mkfifo trial/$place\n"
    "    peat $verb > said 2>&1 < /dev/null; code=$?\n"
    "    n=$((n + 1))\n"
    "    [ $code -le 2 ] || { echo \"peat $verb, $place: $code\"; cat said; exit 9; }\n"
    "  done < verbs\n"
    "done\n"
    "echo $n commands\n";

TEST(no_command_waits_at_any_place)
{
    shell_write("verbs", "done status trial\n"
                         "done results trial\n"
                         "done run e.yaml -o trial\n"
                         "done export trial 0 -o out.st\n"
                         "done diagnose trial 0 --save\n"
                         "done inspect trial\n"
                         "done report trial -o out.html\n"
                         "done plot trial -k bars\n"
                         "done compare none none trial\n"
                         "cut run e.yaml -o trial\n"
                         "cut cell trial 0\n"
                         "cut status trial\n");
    shell_write("sweep.sh", sweep);
    shell_says(0, "216 commands", LIMITED "sh sweep.sh");
}

/* ---- what the user names ---- */

static const struct {
    const char *verb;
    int status;
} named[] = {
    {"validate strange", 2},
    {"run strange -o out", 2},
    {"plan strange", 2},
    {"run e.yaml -o out task.path=strange", 2},
    {"plan e.yaml 'task.path=[data, strange]'", 2},
    {"plan e.yaml model.embedding=strange", 2},
    {"run e.yaml -o out 'model.start={from: strange, to: head.weight}'", 2},
    {"plugins info ./strange", 2},
    {"plugins check ./strange", 1},
    {"inspect ./strange --d 8 --T 8", 2},
};
enum { NAMED = sizeof(named) / sizeof(*named) };

LOOP_TEST(experiments_data_and_plugins_are_refused_by_name, NAMED)
{
    for (int k = 0; k < KINDS; k++) {
        shell_expect(0, "rm -rf strange; set -- strange; %s", kinds[k].make);
        shell_says(named[_i].status, k == KINDS - 1 ? "levels of symbolic links" : kinds[k].reason,
                   LIMITED "peat %s < /dev/null", named[_i].verb);
        ck_assert(shell_printed("strange") || shell_printed("'/dev/zero'"));
        shell_expect(0, "test ! -e out");
    }
}

TEST(what_the_shell_has_opened_is_read_to_its_end_and_limit)
{
    shell_says(0, "1 cell", LIMITED "cat e.yaml | peat validate /dev/stdin task.path=$PWD/data");
    shell_says(0, "1 cell", LIMITED "peat validate /dev/stdin task.path=$PWD/data < e.yaml");
    shell_says(0, "1 cell", LIMITED "peat validate /dev/fd/7 task.path=$PWD/data 7< e.yaml");
    shell_says(2, "the limit is", LIMITED "peat validate /dev/stdin < /dev/zero");
    shell_says(2, "is a device", LIMITED "peat validate /dev/zero");
    shell_says(2, "is a device", LIMITED "peat plan e.yaml task.path=/dev/zero");
    shell_says(2, "is a device", LIMITED "peat plan e.yaml task.path=/dev/urandom");
    shell_says(2, "/dev/stdin", LIMITED "true | peat plan e.yaml task.path=/dev/stdin");
}

/* ---- where the user lets write ---- */

TEST(output_goes_where_the_name_leads)
{
    shell_expect(0,
                 LIMITED "peat results done -f csv -o plain && peat results done -f csv > direct "
                         "&& cmp plain direct");
    shell_expect(0, LIMITED "ln -s there link && peat results done -f csv -o link && test -L link "
                            "&& cmp there plain");
    shell_expect(0, LIMITED "peat results done -f csv -o /dev/stdout > got && cmp got plain");
    shell_expect(0, LIMITED "peat results done -f csv -o /dev/fd/7 7> got && cmp got plain");
    shell_expect(0, LIMITED "peat results done -f csv -o /dev/stdout | cmp - plain");
    shell_expect(0, LIMITED "peat results done -f csv -o /dev/null && test -c /dev/null");
    shell_expect(0, LIMITED "mkfifo pipe && { cat pipe > got & peat results done -f csv -o pipe && "
                            "wait && cmp got plain && test -p pipe; }");
    shell_says(2, "is a directory", LIMITED "mkdir folder; peat results done -o folder");
    shell_says(2, "levels of symbolic links", LIMITED "ln -s loop loop; peat results done -o loop");
    shell_says(2, "nobody reads from this pipe", LIMITED "peat results done -o pipe");
}

TEST(figures_are_whole_and_leave_what_is_there_alone)
{
    shell_expect(0, LIMITED "ln -s there.svg f.svg && peat plot done -k bars -o f.svg && "
                            "test -L f.svg && grep -q '</svg>' there.svg");
    shell_expect(0, LIMITED "peat plot done -k bars && cp -rs $PWD/done copy && "
                            "sha256sum done/figures/* > sums");
    shell_says(2, "is a symbolic link", LIMITED "peat plot copy -k bars");
    shell_expect(0, "sha256sum -c --quiet sums");
}

/* ---- copies made of links ---- */

static const char links[] =
    "snapshot() { (cd $1 && find . -type f -exec sha256sum {} + | sort; find . | sort; "
    "find . -type f -newer ../before); }\n"
    "cp -r $1 original; touch before; sleep 0.01; snapshot original > was\n"
    "cp -rs \"$PWD/original\" copy\n"
    "peat status copy || exit 3\n"
    "peat results copy || exit 4\n"
    "for remove in nothing copy/lock 'copy/cells/*/lock' 'copy/cells/*/log.txt' copy/plan.json "
    "'copy/cells/*/meta.json' 'copy/cells/*/metrics.jsonl' 'copy/cells/*/result.json'; do\n"
    "  rm -f $remove\n"
    "  peat run e.yaml -o copy train.steps=2 > said 2>&1\n"
    "  peat run e.yaml -o copy train.steps=4 >> said 2>&1\n"
    "  peat run e.yaml -o copy --rerun-stale --retry-failed >> said 2>&1\n"
    "  peat cell copy 0 >> said 2>&1\n"
    "  peat diagnose copy 0 --save >> said 2>&1\n"
    "  snapshot original | diff was - || { echo \"without $remove:\"; cat said; exit 5; }\n"
    "done\n";

TEST(work_in_a_copy_of_links_never_changes_the_original)
{
    shell_write("links.sh", links);
    shell_expect(0, LIMITED "sh -x links.sh done");
    shell_expect(0, "rm -rf copy original");
    shell_expect(0, LIMITED "sh links.sh cut");
    shell_expect(0, "rm -rf copy && cp -rs \"$PWD/done\" copy");
    shell_says(2,
               "'copy/lock' is a symbolic link, and inside a run directory nothing is written "
               "through one; copy the directory with cp -rL",
               LIMITED "peat run e.yaml -o copy");
    shell_expect(0, LIMITED "rm -rf copy && cp -rL done copy && peat run e.yaml -o copy");
}

int main(void)
{
    return run_tests((struct tests){"places", open_runs, shell_close, .seconds = 800,
                                    .needs = "timeout mkfifo"});
}
