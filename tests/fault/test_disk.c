/* SPDX-License-Identifier: MIT */
/*
 * test_disk.c: what can change under a run: a disk that is full or read-only, data that disappear
 * or change, plugins that are rebuilt.
 *
 * Disks are mounted in this process's own mount namespace, which needs root.
 */
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "fault/faultkit.h"
#include "support/support.h"

static const char experiment[] = "version: 1\n"
                                 "name: disk\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 16, n_layer: 1, n_head: 1, d_ff: 16}\n"
                                 "  train: {steps: 6, batch: 2, seq_len: 8}\n"
                                 "  eval: {every: 2, lengths: [8], tokens: 16}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, learned]\n"
                                 "seeds: 2\n"
                                 "run: {checkpoint: {every: 2}}\n";

static struct rig rig;
static bool may_mount;
static char *reference;
static struct ran said;
static long faults;

/* The status; what was said stays until the next call. */
static int peat(const char *words)
{
    if (said.out.text)
        ran_release(&said);
    run_peat(&rig, 0, NULL, words, &said);
    return said.status;
}

static void assert_said(const char *text)
{
    ck_assert_msg(strstr(said.err.text, text) != NULL, "'%s' is not in:\n%s", text, said.err.text);
}

static void assert_status(const char *words, int status)
{
    int ended = peat(words);
    ck_assert_msg(ended == status, "'peat %s' ends with %d, not %d:\n%s", words, ended, status,
                  said.err.text);
}

static void assert_same_as_reference(const char *run)
{
    char *now = grid_fingerprint(&rig, run);
    ck_assert_msg(strcmp(now, reference) == 0, "'%s' has other bytes", run);
    free(now);
}

static void put_text(int line)
{
    rig_write_text(&rig, 200, line);
}

static void put_plugin(bool other)
{
    struct strbuf from;
    char *bytes = NULL, *to = rig_path(&rig, "plugins/scheme/learned.so");
    size_t n = 0;
    strbuf_init(&from);
    strbuf_addf(&from, "%s/lib/peat/plugins-1/scheme/learned.so", getenv("PEAT_BUILD"));
    /* One byte behind its end changes its hash and nothing else. */
    if (file_read(from.text, 0, &bytes, &n, NULL) != PEAT_OK ||
        file_write(to, bytes, n + (other ? 1 : 0), NULL) != PEAT_OK) {
        fprintf(stderr, "cannot copy %s\n", from.text);
        exit(EXIT_FAILURE);
    }
    strbuf_release(&from);
    free(bytes);
    free(to);
}

static void forget(const char *name)
{
    char *path = rig_path(&rig, "%s", name);
    dir_remove(path, NULL);
    free(path);
}

/* ---- disks ---- */

static void mount_disk(int kib, unsigned long flags)
{
    char options[32], *path = rig_path(&rig, "disk");
    snprintf(options, sizeof(options), "size=%dk", kib);
    if (!(flags & MS_REMOUNT))
        mkdir(path, 0777);
    ck_assert_msg(mount("tmpfs", path, "tmpfs", flags, options) == 0, "mount: %s", strerror(errno));
    free(path);
}

static void unmount_disk(void)
{
    char *path = rig_path(&rig, "disk");
    ck_assert_int_eq(umount(path), 0);
    free(path);
}

/* ulimit -f, from a size that holds nothing on. */
static int peat_within(rlim_t bytes, const char *words)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    const struct rlimit less = {.rlim_cur = bytes, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
    int status = peat(words);
    setrlimit(RLIMIT_FSIZE, &limit);
    return status;
}

TEST(limit_on_files_is_said_and_gone_on_from)
{
    bool fits = false;
    int short_of = 0;
    for (rlim_t kib = 1; !fits; kib += rig.is_long ? 1 : kib) {
        int status = peat_within(kib << 10, "run disk.yaml -o limited");
        fits = status == 0;
        ck_assert_msg(fits || status == 1 || status == 2, "%d KiB: status %d:\n%s", (int)kib,
                      status, said.err.text);
        if (!fits) {
            assert_said("File too large (`ulimit -f` allows ");
            short_of += status == 1;
            faults++;
            if (status == 1)
                assert_said("files must not grow that large (ulimit -f): raise the limit");
            assert_status("run disk.yaml -o limited", 0);
        }
        assert_same_as_reference("limited");
        expect_no_leftovers(&rig, "limited", "limit on files");
        forget("limited");
    }
    ck_assert_int_gt(short_of, 1);
}

TEST(file_in_the_place_of_the_directory_is_refused)
{
    rig_write(&rig, "taken", "a file");
    assert_status("run disk.yaml -o taken", 2);
    assert_said("taken");
    assert_status("run disk.yaml -o taken/below", 2);
    assert_said("taken");
    assert_status("results taken", 2);
    assert_said("taken");
}

/* ---- data and plugins ---- */

/* A run with a checkpoint of its first cell. */
static void run_half(const char *run)
{
    struct strbuf words;
    struct ran r;
    strbuf_init(&words);
    strbuf_addf(&words, "run disk.yaml -o %s", run);
    run_peat(&rig, 1, "rename:kill:10:once:cell", words.text, &r);
    ck_assert_int_eq(r.status, 1);
    ran_release(&r);
    strbuf_release(&words);
}

TEST(data_that_are_gone_are_named_and_the_run_goes_on_when_they_are_back)
{
    run_half("gone");
    forget("text.txt");
    assert_status("run disk.yaml -o gone --retry-failed", 2);
    assert_said("text.txt");
    assert_status("results gone", 0);
    assert_status("cell gone 0", 1);
    assert_said("text.txt");
    put_text(-1);
    assert_status("run disk.yaml -o gone --retry-failed", 0);
    assert_same_as_reference("gone");
    faults++;
}

TEST(other_data_make_other_cells)
{
    assert_status("run disk.yaml -o data", 0);
    put_text(7);
    assert_status("run disk.yaml -o data", 0);
    assert_status("status data", 0);
    put_text(-1);
    assert_status("run disk.yaml -o data", 0);
    assert_said("4 finished before");
    char *cells = rig_path(&rig, "data/cells"), **name = NULL;
    int n = 0;
    ck_assert_int_eq(dir_list(cells, &name, &n, NULL), PEAT_OK);
    ck_assert_int_eq(n, 8);
    names_free(name, n);
    free(cells);
}

TEST(rebuilt_plugin_makes_its_finished_cells_stale)
{
    assert_status("run disk.yaml -o plugin", 0);
    put_plugin(true);
    assert_status("run disk.yaml -o plugin", 0);
    assert_said("is stale");
    assert_said("2 stale");
    assert_status("results plugin --format csv", 0);
    assert_status("run disk.yaml -o plugin --rerun-stale", 0);
    assert_said("2 done");
    assert_same_as_reference("plugin");
    put_plugin(false);
    faults++;
}

TEST(half_trained_cell_of_a_rebuilt_plugin_starts_over)
{
    run_half("half");
    put_plugin(true);
    assert_status("run disk.yaml -o half --retry-failed", 0);
    assert_same_as_reference("half");
    put_plugin(false);
    faults++;
}

GROUP(mounts)

/* Of every size from one that holds nothing on; the run goes on when there is room. */
TEST(full_disk_is_said_and_gone_on_from)
{
    bool fits = false;
    int full = 0;
    for (int kib = 4; !fits; kib += rig.is_long ? 4 : 28) {
        mount_disk(kib, 0);
        int status = peat("run disk.yaml -o disk/run");
        fits = status == 0;
        ck_assert_msg(fits || status == 1 || status == 2, "%d KiB: status %d", kib, status);
        if (!fits) {
            assert_said("No space left on device");
            full++;
            faults++;
            ck_assert_msg(status == 2 || strstr(said.err.text, "the disk is full"), "%d KiB:\n%s",
                          kib, said.err.text);
            peat("results disk/run");
            mount_disk(4096, MS_REMOUNT);
            assert_status("run disk.yaml -o disk/run --retry-failed", 0);
        }
        assert_same_as_reference("disk/run");
        expect_no_leftovers(&rig, "disk/run", "full disk");
        unmount_disk();
    }
    ck_assert_int_gt(full, 2);
    ck_assert_int_eq(failures(), 0);
}

TEST(read_only_disk_is_refused_and_its_results_are_shown)
{
    mount_disk(4096, 0);
    assert_status("run disk.yaml -o disk/run", 0);
    assert_status("results disk/run", 0);
    char *table = strdup(said.out.text);
    mount_disk(4096, MS_REMOUNT | MS_RDONLY);
    assert_status("results disk/run", 0);
    ck_assert_str_eq(said.out.text, table);
    assert_status("status disk/run", 0);
    assert_status("run disk.yaml -o disk/run", 2);
    assert_said("Read-only file system");
    assert_said("disk/run");
    assert_status("run disk.yaml -o disk/other", 2);
    assert_said("Read-only file system");
    mount_disk(4096, MS_REMOUNT);
    assert_status("run disk.yaml -o disk/run", 0);
    unmount_disk();
    free(table);
    faults += 2;
}

int main(int argc, char **argv)
{
    setenv("CK_FORK", "no", 1);
    rig_open(&rig, argc, argv);
    may_mount = geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
                mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    rig_write(&rig, "disk.yaml", experiment);
    put_text(-1);
    char *plugins = rig_path(&rig, "plugins/scheme");
    dir_make(plugins, NULL);
    free(plugins);
    put_plugin(false);
    if (peat("run disk.yaml -o whole") != 0) {
        fprintf(stderr, "%s", said.err.text);
        return EXIT_FAILURE;
    }
    reference = grid_fingerprint(&rig, "whole");
    int bad = run_tests((struct tests){"disk"});
    if (may_mount)
        bad |= run_tests((struct tests){"disk", .group = "mounts"});
    else
        printf("skipped: full and read-only disks need root and a mount namespace\n");
    printf("%ld faults of disks, data and plugins\n", faults);
    free(reference);
    ran_release(&said);
    return rig_close(&rig) || bad;
}
