// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/document/section.hpp"

namespace steptune {

/// The key `type` of a runner's section, which says of what kind the runner is. It has been heeded
/// by the time that the kind reads its section.
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
