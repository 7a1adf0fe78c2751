# SPDX-License-Identifier: MIT
# Filled below: headers, find_package(peat), peat.pc, the program.
