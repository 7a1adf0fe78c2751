/* SPDX-License-Identifier: MIT */
/* sanitizer.h: the sanitizer of this build, as gcc and clang define it. */
#pragma once

#if defined(__has_feature)
#define BASE_HAS_FEATURE(feature) __has_feature(feature)
#else
#define BASE_HAS_FEATURE(feature) 0
#endif

/* Defined or not. */
#if defined(__SANITIZE_ADDRESS__) || BASE_HAS_FEATURE(address_sanitizer)
#define BASE_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__) || BASE_HAS_FEATURE(thread_sanitizer)
#define BASE_THREAD_SANITIZER
#endif
