// SPDX-License-Identifier: Apache-2.0
#include "common/machine/page_cache.hpp"

#include <cerrno>
#include <functional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "common/unique_fd.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

void note(DataFiles& data, const fs::path& path, const std::string& reason) {
  if (data.fault.empty()) data.fault = fmt::format("{}: {}", path.string(), reason);
}

/// Acts on a file and returns the error, if any.
using FileAction = std::function<std::error_code(const fs::path&)>;

void visit_file(const fs::path& file, DataFiles& data, const FileAction& action) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  if (!error) error = action(file);
  if (error) return note(data, file, error.message());
  ++data.files;
  data.bytes += static_cast<double>(bytes);
}

void visit_folder(const fs::path& folder, DataFiles& data, const FileAction& action) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code unknown;
    if (entry->is_regular_file(unknown)) {
      visit_file(path, data, action);
    } else if (entry->is_directory(unknown)) {
      if (!entry->is_symlink(unknown)) {
        visit_folder(path, data, action);
      } else {
        note(data, path, "a link to a folder, which is not followed: name the folder itself");
      }
    } else if (unknown && unknown != std::errc::no_such_file_or_directory) {
      note(data, path, unknown.message());
    }
  }
  if (error) note(data, folder, error.message());
}

DataFiles visit(const std::vector<fs::path>& paths, const FileAction& action) {
  DataFiles data;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      visit_folder(path, data, action);
    } else {
      visit_file(path, data, action);
    }
  }
  return data;
}

std::error_code drop(const fs::path& file) {
  const UniqueFd descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor) return {errno, std::generic_category()};
  // The kernel cannot drop modified pages, so write them first.
  ::fdatasync(descriptor.get());
  const int fault = ::posix_fadvise(descriptor.get(), 0, 0, POSIX_FADV_DONTNEED);
  return {fault, std::generic_category()};
}

}  // namespace

DataFiles find_data_files(const std::vector<fs::path>& paths) {
  return visit(paths, [](const fs::path&) { return std::error_code{}; });
}

DataFiles drop_cached_pages(const std::vector<fs::path>& paths) {
  return visit(paths, drop);
}

}  // namespace steptune
