/* SPDX-License-Identifier: MIT */
/* base.h: the headers that every room may use without including them: the C library, files of
 * POSIX, and the whole room base. A header includes the headers of other rooms that it needs. */
#pragma once

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/columns.h"
#include "base/data_files.h"
#include "base/elfcheck.h"
#include "base/error.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/lists.h"
#include "base/npy.h"
#include "base/number.h"
#include "base/object.h"
#include "base/own_dir.h"
#include "base/quantity.h"
#include "base/record.h"
#include "base/rng.h"
#include "base/sanitizer.h"
#include "base/shown.h"
#include "base/sort.h"
#include "base/stops.h"
#include "base/strbuf.h"
#include "base/text_index.h"
#include "base/value.h"
