// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace steptune {

/// Number and total size of the files below some paths.
struct DataFiles {
  std::uint64_t files = 0;
  double bytes = 0.0;
  std::string fault;  ///< the first path that could not be read, and why; may be empty
};

/// Finds the regular files at and below `paths`. Follows links to files, because data sets often
/// consist of links. A link to a folder inside a folder is not followed and is a fault. A folder
/// that cannot be read is a fault, too; the other folders are visited.
[[nodiscard]] DataFiles find_data_files(const std::vector<std::filesystem::path>& paths);

/// Asks the kernel to drop these files from its page cache, so that the next reader reads from
/// storage (posix_fadvise(2), POSIX_FADV_DONTNEED). Needs only permission to read the files. Writes
/// modified pages to storage first. Pages stay cached if another process has mapped them, or if the
/// file system is in memory. Returns the files that it asked the kernel to drop.
DataFiles drop_cached_pages(const std::vector<std::filesystem::path>& paths);

}  // namespace steptune
