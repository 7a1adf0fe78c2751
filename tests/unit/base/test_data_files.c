/* SPDX-License-Identifier: MIT */
/* test_data_files.c: data files are what their hash says, whatever becomes of them on the disk. */
#include "support/support.h"

static struct arena arena;

static void open_scratch(void)
{
    scratch_make();
    arena_init(&arena, "test", 1 << 12);
}

static void close_scratch(void)
{
    arena_release(&arena);
    scratch_remove();
}

static void put(const char *name, const char *text)
{
    ck_assert_int_eq(file_write(scratch_path(name), text, strlen(text), NULL), PEAT_OK);
}

static void assert_gives(struct data_files *f, const char *name, const char *text)
{
    const unsigned char *byte = NULL;
    const char *path = scratch_path(name), *told;
    char hex[HASH_HEX];
    size_t n = 0;
    ck_assert_int_eq(data_read(f, path, &arena, &byte, &n, NULL), PEAT_OK);
    ck_assert_uint_eq(n, strlen(text));
    ck_assert_str_eq((const char *)byte, text);
    hash_bytes(text, strlen(text), hex);
    ck_assert_int_eq(data_hash(f, path, &told, NULL), PEAT_OK);
    ck_assert_str_eq(told, hex);
}

static void assert_hash(struct data_files *f, const char *name)
{
    const char *hex;
    ck_assert_int_eq(data_hash(f, scratch_path(name), &hex, NULL), PEAT_OK);
    ck_assert_uint_eq(strlen(hex), HASH_HEX - 1);
}

TEST(kept_bytes_stay_those_that_were_hashed)
{
    static const char *const later[] = {"other", "longer than before", "", "s"};
    struct data_files f = {.a = &arena, .keep_most = SIZE_MAX};
    put("one", "first");
    put("two", "second");
    assert_hash(&f, "one");
    for (int i = 0; i < 4; i++) {
        put("one", later[i]);
        assert_gives(&f, "one", "first");
    }
    assert_gives(&f, "two", "second");
    ck_assert_int_eq(dir_remove(scratch_path("one"), NULL), PEAT_OK);
    assert_gives(&f, "one", "first");
    ck_assert_int_eq(f.n, 2);
}

TEST(bytes_that_were_not_kept_are_read_again_or_refused)
{
    struct data_files f = {.a = &arena};
    const unsigned char *byte;
    size_t n;
    struct error err = {0};
    put("one", "first");
    assert_hash(&f, "one");
    assert_gives(&f, "one", "first");
    put("one", "other");
    ck_assert_int_eq(data_read(&f, scratch_path("one"), &arena, &byte, &n, &err), PEAT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "has changed since it was first read"));
    ck_assert_ptr_nonnull(strstr(err.text, scratch_path("one")));
    put("one", "first");
    assert_gives(&f, "one", "first");
}

TEST(only_what_fits_is_kept)
{
    struct data_files f = {.a = &arena, .keep_most = 8};
    put("one", "12345");
    put("two", "12345");
    put("three", "123");
    assert_hash(&f, "one");
    assert_hash(&f, "two");
    assert_hash(&f, "three");
    ck_assert_ptr_nonnull(f.item[0].byte);
    ck_assert_ptr_null(f.item[1].byte);
    ck_assert_ptr_nonnull(f.item[2].byte);
    ck_assert_uint_eq(f.kept, 8);
    assert_gives(&f, "two", "12345");
}

TEST(what_is_no_file_is_refused_and_not_remembered)
{
    struct data_files f = {.a = &arena, .keep_most = SIZE_MAX};
    const char *hex;
    struct error err = {0};
    ck_assert_int_eq(data_hash(&f, "/dev/zero", &hex, &err), PEAT_INVALID);
    ck_assert_str_eq(err.text, "'/dev/zero' is a device, not a regular file");
    ck_assert_int_eq(data_hash(&f, scratch_path("none"), &hex, &err), PEAT_NOTFOUND);
    ck_assert_int_eq(f.n, 0);
}

/* DATA_MAPPED_FROM + more bytes, nearly all of them a hole. */
static const char *put_large(const char *name, off_t more)
{
    const char *path = scratch_path(name);
    put(name, "begins so");
    ck_assert_int_eq(truncate(path, DATA_MAPPED_FROM + more), 0);
    return path;
}

TEST(large_file_is_mapped_with_a_zero_behind_it)
{
    for (off_t more = 0; more < 2; more++) {
        struct data_files f = {.a = &arena, .keep_most = 1};
        const char *path = put_large("large", more), *hex;
        char whole[HASH_HEX];
        const unsigned char *byte = NULL, *again = NULL;
        size_t n = 0;
        ck_assert_int_eq(data_hash(&f, path, &hex, NULL), PEAT_OK);
        ck_assert_int_eq(hash_file(path, whole, NULL), PEAT_OK);
        ck_assert_str_eq(hex, whole);
        ck_assert_int_eq(data_read(&f, path, &arena, &byte, &n, NULL), PEAT_OK);
        ck_assert_uint_eq(n, DATA_MAPPED_FROM + (size_t)more);
        ck_assert_str_eq((const char *)byte, "begins so");
        ck_assert_int_eq(byte[n - 1], 0);
        ck_assert_int_eq(byte[n], 0);
        ck_assert_int_eq(data_read(&f, path, &arena, &again, &n, NULL), PEAT_OK);
        ck_assert_ptr_eq(byte, again);
        ck_assert_uint_eq(f.kept, 0);
        ck_assert_uint_lt(arena.high_water, 1 << 20);
    }
}

/* Written in place, a mapped file is not what its hash says any more; replaced, it stays. */
TEST(write_into_a_mapped_file_is_noticed)
{
    for (int replaced = 0; replaced < 2; replaced++) {
        struct data_files f = {.a = &arena, .keep_most = 1};
        const char *path = put_large("large", 0);
        const unsigned char *byte = NULL;
        size_t n;
        struct error err = {0};
        ck_assert_int_eq(data_read(&f, path, &arena, &byte, &n, NULL), PEAT_OK);
        ck_assert_int_eq(data_check(&f, &err), PEAT_OK);
        if (replaced) {
            put("large", "other");
            ck_assert_int_eq(data_check(&f, &err), PEAT_OK);
            ck_assert_str_eq((const char *)byte, "begins so");
            continue;
        }
        int fd = open(path, O_WRONLY);
        ck_assert_int_eq(pwrite(fd, "x", 1, 0), 1);
        close(fd);
        ck_assert_int_eq(data_check(&f, &err), PEAT_INVALID);
        ck_assert_msg(strstr(err.text, path) && strstr(err.text, "was written while"), "%s",
                      err.text);
    }
}

/* A file of a tebibyte and more, most of which is a hole. */
TEST(hole_that_no_memory_holds_is_refused_at_once)
{
    struct data_files f = {.a = &arena, .keep_most = DATA_KEPT_BY_PLANS};
    const char *path = put_large("sparse", (off_t)8 << 40), *hex;
    const unsigned char *byte;
    size_t n;
    struct error err = {0};
    double start = clock_cpu();
    ck_assert_int_eq(data_hash(&f, path, &hex, &err), PEAT_INVALID);
    ck_assert_int_eq(data_read(&f, path, &arena, &byte, &n, &err), PEAT_INVALID);
    ck_assert_double_lt(clock_cpu() - start, 1);
    ck_assert_msg(strstr(err.text, "has 8192 GiB, more than the memory of this machine"), "%s",
                  err.text);
}

int main(void)
{
    return run_tests((struct tests){"data_files", open_scratch, close_scratch});
}
