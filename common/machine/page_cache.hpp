// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace steptune {

/// Files below some paths, and how many bytes they hold.
struct DataFiles {
  std::uint64_t files = 0;
  double bytes = 0.0;
  std::string fault;  ///< the first file or folder that could not be looked at, and why; else empty
};

/// The regular files at and below `paths`. Links to files are followed, as data sets are often made
/// of them; a link to a folder inside a folder is not, and is a fault.
[[nodiscard]] DataFiles find_data_files(const std::vector<std::filesystem::path>& paths);

/// Asks the kernel to forget what it holds of these files in memory, so that the next reader reads
/// from storage; needs no privileges but to read the files. Written pages are stored first. Pages
/// that another process has mapped stay, and so do all on file systems that live in memory.
/// Returns what was asked for (posix_fadvise(2), POSIX_FADV_DONTNEED).
DataFiles drop_cached_pages(const std::vector<std::filesystem::path>& paths);

}  // namespace steptune
