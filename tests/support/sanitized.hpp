// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// True in builds with a sanitizer. Code then takes three to twenty times as long, so tests may do
/// fewer repetitions.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool k_sanitized = true;
#else
inline constexpr bool k_sanitized = false;
#endif

}  // namespace steptune
