// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Most levels of objects and lists in a document (JSON, YAML).
inline constexpr int k_max_nesting = 64;

}  // namespace steptune
