/* SPDX-License-Identifier: MIT */
/* jsonfile.h: earlier names of base/json.h, for what has not moved yet. */
#ifndef BASE_JSONFILE_H
#define BASE_JSONFILE_H

#include "base/json.h"

#define jsonfile_read  json_read_file
#define jsonfile_write json_write_file
#define member_text    json_get_text
#define member_integer json_get_int

#define member_set_text(a, map, key, text) json_put_text((struct json){(a), (map)}, (key), (text))
#define member_set_integer(a, map, key, x) json_put_int((struct json){(a), (map)}, (key), (x))
#define member_set_real(a, map, key, x)    json_put_real((struct json){(a), (map)}, (key), (x))
#define member_set(a, map, key, item)      json_put((struct json){(a), (map)}, (key), (item))

#endif
