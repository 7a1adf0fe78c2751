/* SPDX-License-Identifier: MIT */
/* fuzz_elf.c: any bytes are a shared object for this machine or are refused with a text. */
#include "base/elfcheck.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct error err = {0};
    peat_status status = elf_check("input", (const char *)bytes, n, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    return 0;
}
