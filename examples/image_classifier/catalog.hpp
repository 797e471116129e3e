// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/error.hpp"

namespace steptune::example {

/// The images and their classes.
struct Catalog {
  struct Entry {
    std::filesystem::path file;
    std::int64_t label = 0;
  };
  std::vector<std::string> classes;  ///< names by label
  std::vector<Entry> entries;
};

/// Reads a folder that has one folder of JPEG files (`.jpg`, `.jpeg`) for each class, in the order
/// of names. Fewer than two classes, or a class without images, is an error.
[[nodiscard]] Result<Catalog> read_catalog(const std::filesystem::path& folder);

}  // namespace steptune::example
