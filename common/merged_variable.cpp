// SPDX-License-Identifier: Apache-2.0
#include "common/merged_variable.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace steptune {
namespace {

/// Returns the separator of a variable that lists settings; nullopt for any other variable.
std::optional<char> separator_of(std::string_view variable) {
  if (variable == "GLIBC_TUNABLES") return ':';
  if (variable == "MALLOC_CONF") return ',';
  return std::nullopt;
}

std::vector<std::string_view> settings_in(std::string_view text, char separator) {
  std::vector<std::string_view> settings;
  while (!text.empty()) {
    const std::string_view setting = text.substr(0, text.find(separator));
    if (!setting.empty()) settings.push_back(setting);
    text.remove_prefix(std::min(setting.size() + 1, text.size()));
  }
  return settings;
}

/// A setting is `name=value` in a list with colons, `name:value` in a list with commas.
std::string_view name_of_setting(std::string_view setting, char separator) {
  return setting.substr(0, setting.find(separator == ':' ? '=' : ':'));
}

}  // namespace

std::string merged_variable(std::string_view name, std::string_view own, std::string_view added) {
  const auto separator = separator_of(name);
  if (!separator) return std::string(added);
  const auto replacing = settings_in(added, *separator);
  std::string merged;
  for (const std::string_view setting : settings_in(own, *separator)) {
    const bool is_replaced = std::ranges::any_of(replacing, [&](std::string_view other) {
      return name_of_setting(other, *separator) == name_of_setting(setting, *separator);
    });
    if (is_replaced) continue;
    merged += setting;
    merged += *separator;
  }
  return merged + std::string(added);
}

}  // namespace steptune
