// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace steptune::testing {

/// True if golden files are to be rewritten instead of compared: STEPTUNE_UPDATE_GOLDEN is set in
/// the environment.
inline bool updating_golden_files() {
  return std::getenv("STEPTUNE_UPDATE_GOLDEN") != nullptr;
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace steptune::testing
