// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace steptune::testing {

/// True if STEPTUNE_UPDATE_GOLDEN is set in the environment. Tests then rewrite golden files
/// instead of comparing them.
inline bool updating_golden_files() {
  return std::getenv("STEPTUNE_UPDATE_GOLDEN") != nullptr;
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace steptune::testing
