// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/trial_name.hpp"

#include <charconv>

#include <fmt/format.h>

namespace steptune {
namespace {

template <typename Number>
bool is_whole_number(std::string_view text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace

std::string trial_name(TrialKey key) {
  return fmt::format("{}.{}", key.trial, key.attempt);
}

std::optional<TrialKey> trial_key_from_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  TrialKey key;
  const bool is_one = is_whole_number(name.substr(0, dot), key.trial) &&
                      is_whole_number(name.substr(dot + 1), key.attempt);
  return is_one ? std::optional(key) : std::nullopt;
}

}  // namespace steptune
