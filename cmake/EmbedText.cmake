# SPDX-License-Identifier: MIT
# cmake -DIN=FILE -DOUT=FILE.c -DNAME=SYMBOL -P EmbedText.cmake: a file as the C text `const char SYMBOL[]`.
file(READ ${IN} text)
string(HEX "${text}" bytes)
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
string(REGEX REPLACE "(0a',)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0};\n")
