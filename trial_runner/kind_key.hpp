// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/document/section.hpp"

namespace steptune {

/// Returns the key `type` of a runner's section: the name of the kind of runner. The key's reader
/// does nothing, because the caller has already chosen the kind by `type`.
template <typename T>
[[nodiscard]] document::Key<T> kind_key(const std::string& name) {
  document::Key<T> key(
      "type", [](const document::Node&, T&) {},
      [name](const T&, const document::Writing&) { return Json(name); },
      [name](Json&) {
        return Json{{"const", name}};
      });
  key.doc("the kind of runner");
  return key;
}

}  // namespace steptune
