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
  std::vector<std::string> classes;  ///< `classes[i]` is the name of the class with label i
  std::vector<Entry> entries;
};

/// Reads a folder that contains a subfolder of JPEG files (`.jpg`, `.jpeg`) for each class. Classes
/// and their files are sorted by name. A class is named after its subfolder. Returns an error for
/// fewer than two classes or a class without images.
[[nodiscard]] Result<Catalog> read_catalog(const std::filesystem::path& folder);

}  // namespace steptune::example
