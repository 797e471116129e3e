// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"

namespace steptune {

/// A CSV file's header and rows, each with as many cells as the header. Cells may be quoted (RFC
/// 4180) but not run over lines. At most 256 MiB.
struct CsvFile {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};
[[nodiscard]] Result<CsvFile> read_csv_file(const std::filesystem::path& path);

}  // namespace steptune
