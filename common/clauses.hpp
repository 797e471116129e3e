// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// `text` says `clause`, too: behind "; " where it said something before. An empty clause says
/// nothing.
inline void add_clause(std::string& text, std::string_view clause) {
  if (clause.empty()) return;
  if (!text.empty()) text += "; ";
  text += clause;
}

}  // namespace steptune
