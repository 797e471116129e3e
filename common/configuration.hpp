// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace steptune {

/// A parameter's value. Ordinal and categorical choices keep the type they have in the study file.
using Value = std::variant<bool, std::int64_t, double, std::string>;

/// Returns the value as written on a command line: `true`, `64`, `0.001`, `bf16`. A double becomes
/// the shortest text that reads back as the same double, in any locale.
[[nodiscard]] std::string to_text(const Value& value);

/// Returns the value as a number, for expressions and for the searchers' encodings; true is 1.
/// Returns NaN for a text, also for `"8"`.
[[nodiscard]] double to_number(const Value& value);

/// One value for every active parameter of a search space. A parameter whose condition is false is
/// absent. Parameters are ordered by name, so that equal configurations have equal texts.
class Configuration {
 public:
  Configuration() = default;
  explicit Configuration(std::map<std::string, Value, std::less<>> values)
      : values_(std::move(values)) {}

  /// Returns null if the parameter is absent (unknown or inactive).
  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  void set(std::string name, Value value) {
    values_.insert_or_assign(std::move(name), std::move(value));
  }
  void erase(std::string_view name);

  [[nodiscard]] const std::map<std::string, Value, std::less<>>& values() const { return values_; }
  [[nodiscard]] bool empty() const { return values_.empty(); }

  /// Returns a text for people, in order of name: `batch_size=64 precision=bf16 workers=4`.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Configuration&, const Configuration&) = default;
  friend auto operator<=>(const Configuration&, const Configuration&) = default;

 private:
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace steptune
