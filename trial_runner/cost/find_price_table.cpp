// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/cost/user_prices.hpp"

namespace steptune {

std::optional<std::filesystem::path> user_price_directory() {
  // The specification of base directories has relative paths ignored.
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && *data == '/') {
    return std::filesystem::path(data) / "steptune" / "prices";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return std::nullopt;
  return std::filesystem::path(home) / ".local" / "share" / "steptune" / "prices";
}

std::vector<std::filesystem::path> price_table_directories() {
  std::vector<std::filesystem::path> directories;
  if (const char* variable = std::getenv("STEPTUNE_PRICE_PATH")) {
    std::string_view rest = variable;
    while (!rest.empty()) {
      const std::string_view directory = rest.substr(0, rest.find(':'));
      if (!directory.empty()) directories.emplace_back(directory);
      rest.remove_prefix(std::min(directory.size() + 1, rest.size()));
    }
  }
  if (auto own = user_price_directory()) directories.push_back(*std::move(own));
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    directories.push_back(program.parent_path().parent_path() / "share/steptune/configs/prices");
  }
  directories.push_back(std::filesystem::path(STEPTUNE_CONFIG_DIRECTORY) / "prices");
  return directories;
}

Result<PriceTable> find_price_table(const std::string& region) {
  const std::string name = fmt::format("sagemaker-{}.json", region);
  std::string looked_in;
  for (const auto& directory : price_table_directories()) {
    const auto file = directory / name;
    std::error_code error;
    if (std::filesystem::exists(file, error)) return read_price_table(file);
    fmt::format_to(std::back_inserter(looked_in), "{}{}", looked_in.empty() ? "" : ", ",
                   directory.string());
  }
  return fail(ErrorKind::not_found,
              fmt::format("no price table for the region {} (looked for {} in {})", region, name,
                          looked_in),
              {},
              "make one with 'steptune prices refresh', or give \"prices\" in USD per hour in the "
              "study's runner");
}

}  // namespace steptune
