# SPDX-License-Identifier: MIT
# cmake -DIN=FILE -DOUT=FILE.c -DNAME=SYMBOL [-DWHOLE=1] -P EmbedText.cmake: a file as the C text
# `const char SYMBOL[]`. Unless it stays whole, it is a style sheet or a script, and loses comments and
# empty lines; an indented line joins the one before.
file(READ ${IN} text)
if(NOT WHOLE)
string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
string(REGEX REPLACE "\n +" "" text "${text}")
string(REGEX REPLACE "\n\n+" "\n" text "\n${text}")
string(SUBSTRING "${text}" 1 -1 text)
endif()
string(HEX "${text}" bytes)
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
string(REGEX REPLACE "(0a',)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0};\n")
