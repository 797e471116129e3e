// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// Appends `clause` to `text`, after "; " if `text` is not empty. An empty clause changes nothing.
inline void add_clause(std::string& text, std::string_view clause) {
  if (clause.empty()) return;
  if (!text.empty()) text += "; ";
  text += clause;
}

}  // namespace steptune
