# SPDX-License-Identifier: MIT
"""Nothing says where a token is."""
