// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "common/environment.hpp"
#include "common/shipped_files.hpp"
#include "trial_runner/cost/price_table.hpp"

namespace steptune {

std::optional<std::filesystem::path> user_price_directory() {
  const Environment environment = process_environment();
  // The XDG base directory specification says to ignore relative paths.
  const auto data = environment("XDG_DATA_HOME");
  if (data && data->starts_with('/')) {
    return std::filesystem::path(*data) / "steptune" / "prices";
  }
  const auto home = home_directory(environment);
  if (!home) return std::nullopt;
  return *home / ".local" / "share" / "steptune" / "prices";
}

std::string price_table_name(const std::string& list, const std::string& region) {
  return fmt::format("{}-{}.json", list, region);
}

std::vector<std::filesystem::path> price_table_directories() {
  std::vector<std::filesystem::path> directories =
      directory_list(process_environment(), "STEPTUNE_PRICE_PATH");
  if (auto own = user_price_directory()) directories.push_back(*std::move(own));
  for (const auto& shipped : shipped_directories(ShippedKind::config))
    directories.push_back(shipped / "prices");
  return directories;
}

Result<std::filesystem::path> find_price_table_file(const std::string& list,
                                                    const std::string& region) {
  const std::string name = price_table_name(list, region);
  const auto directories = price_table_directories();
  if (const auto file = find_file(directories, name)) return *file;
  return fail(ErrorKind::not_found,
              fmt::format("there is no price table for the region {} ({} in {})", region, name,
                          directories_text(directories)),
              {},
              "make one with 'steptune prices refresh', or give \"prices\" in USD per hour in the "
              "study's runner");
}

Result<PriceTable> find_price_table(const std::string& list, const std::string& region) {
  const auto file = find_price_table_file(list, region);
  if (!file) return tl::unexpected(file.error());
  return read_price_table(*file);
}

}  // namespace steptune
