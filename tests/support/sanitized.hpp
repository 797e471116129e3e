// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// True in builds with a sanitizer, where code runs three to twenty times as long, so tests may
/// repeat less.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool k_sanitized = true;
#else
inline constexpr bool k_sanitized = false;
#endif

}  // namespace steptune
