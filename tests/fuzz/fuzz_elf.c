/* SPDX-License-Identifier: MIT */
/* fuzz_elf.c: any bytes are a shared object for this machine or are refused with a text. */
#include "base/elfcheck.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct error err = {0};
    const char *text = (const char *)bytes;
    peat_status status = elf_check("input", text, n, n, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    /* The table alone gives the same answer as the whole file. */
    size_t part = n < 4096 ? n : 4096;
    if (elf_check_head("input", text, n, NULL) == PEAT_OK && elf_has_table(text, part))
        BUG_UNLESS(elf_check("input", text, part, n, NULL) == status);
    size_t length;
    const char *note = elf_note(text, part, "PEAT", &length);
    BUG_UNLESS(!note || (note >= text && length <= part && note + length <= text + part));
    return 0;
}
