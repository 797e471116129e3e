// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

namespace steptune {

/// Text that must not reach a log, an argument list, a database or a report. It can be neither
/// streamed nor formatted; only `reveal` returns it.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] const std::string& reveal() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }

  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  std::string text_;
};

}  // namespace steptune
