// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/error.hpp"

namespace steptune::search_quality {

struct Csv {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as wide as `columns`
};

/// Reads a comma-separated file with a header line; fields may stand in double quotes (without line
/// breaks inside). Refuses rows of another width and files over 256 MiB.
[[nodiscard]] Result<Csv> read_csv(const std::filesystem::path& path);

}  // namespace steptune::search_quality
