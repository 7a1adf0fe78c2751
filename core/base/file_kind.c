/* SPDX-License-Identifier: MIT */
/* file_kind.c: a table of formats by their first bytes. */

#include "base/base.h"

#define PACKED(program) "packed with " program ": unpack it first"
#define UTF_16          "text in UTF-16: convert it to UTF-8"

/* `binary`: a text could begin with these bytes, so they count only if a byte 0 is near. */
static const struct kind {
    const char *magic;
    size_t n, at;
    const char *text;
    bool binary;
} kinds[] = {
    {"\x1f\x8b\x08", 3, 0, PACKED("gzip"), false},
    {"\xfd"
     "7zXZ\0",
     6, 0, PACKED("xz"), false},
    {"\x28\xb5\x2f\xfd", 4, 0, PACKED("zstd"), false},
    {"\x04\x22\x4d\x18", 4, 0, PACKED("lz4"), false},
    {"PK\3\4", 4, 0, PACKED("zip"), false},
    {"1AY&SY", 6, 4, PACKED("bzip2"), false},
    {"7z\xbc\xaf\x27\x1c", 6, 0, PACKED("7z"), false},
    {"ustar", 5, 257, "a tar archive", true},
    {"PAR1", 4, 0, "a Parquet table", true},
    {"ARROW1\0\0", 8, 0, "an Arrow table", false},
    {"\x89HDF\r\n\x1a\n", 8, 0, "an HDF5 file", false},
    {"SQLite format 3\0", 16, 0, "an SQLite database", false},
    {"\x89PNG\r\n\x1a\n", 8, 0, "a PNG image", false},
    {"\xff\xd8\xff", 3, 0, "a JPEG image", false},
    {"GIF8", 4, 0, "a GIF image", true},
    {"II*\0", 4, 0, "a TIFF image", false},
    {"MM\0*", 4, 0, "a TIFF image", false},
    {"RIFF", 4, 0, "a RIFF file (sound or an image)", true},
    {"%PDF-", 5, 0, "a PDF document", false},
    {"\x7f"
     "ELF",
     4, 0, "an ELF program or library", false},
    {"GGUF", 4, 0, "a GGUF model", true},
    {"\x80\x04\x95", 3, 0, "a Python pickle", false},
    {"\x80\x05\x95", 3, 0, "a Python pickle", false},
    {"\xff\xfe", 2, 0, UTF_16, false},
    {"\xfe\xff", 2, 0, UTF_16, false},
};

/* safetensors: the length of a JSON header in 8 bytes, and the header. */
static bool is_safetensors(const unsigned char *byte, size_t n)
{
    uint64_t length = 0;
    for (size_t i = 0; n > 9 && i < 8; i++)
        length |= (uint64_t)byte[i] << 8 * i;
    return length > 1 && length <= n - 8 && byte[8] == '{' && (byte[9] == '"' || byte[9] == '}');
}

const char *file_kind(const void *bytes, size_t n)
{
    const unsigned char *byte = bytes;
    enum { NEAR = 512 };
    for (const struct kind *k = kinds; k < kinds + sizeof(kinds) / sizeof(*kinds); k++)
        if (n >= k->at + k->n && memcmp(byte + k->at, k->magic, k->n) == 0 &&
            (!k->binary || memchr(byte, 0, n < NEAR ? n : NEAR)))
            return k->text;
    return npy_is(bytes, n)          ? "an array of NumPy's"
           : is_safetensors(byte, n) ? "a safetensors file"
                                     : NULL;
}
