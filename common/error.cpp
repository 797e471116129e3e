// SPDX-License-Identifier: Apache-2.0
#include "common/error.hpp"

namespace steptune {

std::string Error::text() const {
  std::string text = where.empty() ? message : where + ": " + message;
  if (!hint.empty()) text += "\n  " + hint;
  return text;
}

}  // namespace steptune
