// SPDX-License-Identifier: Apache-2.0
#include "image_classifier/catalog.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

namespace steptune::example {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_entries_max = 20'000'000;
constexpr const char* k_hint =
    "one folder of .jpg files per class is needed; image_classifier --generate DIR makes such a "
    "set";

Result<std::vector<fs::path>> sorted_content(const fs::path& folder) {
  std::vector<fs::path> content;
  std::error_code error;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    content.push_back(it->path());
    if (content.size() > k_entries_max) {
      return fail(ErrorKind::usage, "more than 20 million entries", folder.string());
    }
  }
  if (error) {
    return fail(ErrorKind::usage, "cannot read the folder: " + error.message(), folder.string(),
                k_hint);
  }
  std::sort(content.begin(), content.end());
  return content;
}

bool is_jpeg_name(const fs::path& file) {
  constexpr std::array<std::string_view, 4> k_endings = {".jpg", ".jpeg", ".JPG", ".JPEG"};
  return std::find(k_endings.begin(), k_endings.end(), file.extension().string()) !=
         k_endings.end();
}

}  // namespace

Result<Catalog> read_catalog(const fs::path& folder) {
  const Result<std::vector<fs::path>> folders = sorted_content(folder);
  if (!folders) return tl::unexpected(folders.error());
  Catalog catalog;
  for (const fs::path& class_folder : *folders) {
    std::error_code error;
    if (!fs::is_directory(class_folder, error)) continue;
    const Result<std::vector<fs::path>> files = sorted_content(class_folder);
    if (!files) return tl::unexpected(files.error());
    const std::size_t entries_before = catalog.entries.size();
    const auto label = static_cast<std::int64_t>(catalog.classes.size());
    for (const fs::path& file : *files) {
      if (is_jpeg_name(file)) catalog.entries.push_back({file, label});
    }
    if (catalog.entries.size() == entries_before) {
      return fail(ErrorKind::usage, "the class folder holds no .jpg file", class_folder.string(),
                  k_hint);
    }
    catalog.classes.push_back(class_folder.filename().string());
  }
  if (catalog.classes.size() < 2) {
    return fail(ErrorKind::usage, "fewer than two class folders", folder.string(), k_hint);
  }
  return catalog;
}

}  // namespace steptune::example
