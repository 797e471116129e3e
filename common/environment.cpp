// SPDX-License-Identifier: Apache-2.0
#include "common/environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace steptune {

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

std::optional<std::filesystem::path> home_directory(const Environment& environment) {
  const auto home = environment("HOME");
  if (!home || !home->starts_with('/')) return std::nullopt;
  return *home;
}

std::vector<std::filesystem::path> directory_list(const Environment& environment,
                                                  const std::string& variable) {
  std::vector<std::filesystem::path> directories;
  const std::string listed = environment(variable).value_or("");
  std::string_view rest = listed;
  while (!rest.empty()) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    if (!directory.empty()) directories.emplace_back(directory);
    rest.remove_prefix(std::min(directory.size() + 1, rest.size()));
  }
  return directories;
}

}  // namespace steptune
