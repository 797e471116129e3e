// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "common/machine/system_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune {

/// A folder with files of /proc and /sys, which describe a machine.
class FakeMachine {
 public:
  void write(const std::filesystem::path& path, const std::string& text) const {
    folder_.write(path, text);
  }
  [[nodiscard]] const SystemFiles& files() const { return files_; }

 private:
  TemporaryFolder folder_{"machine"};
  SystemFiles files_{folder_.path()};
};

}  // namespace steptune
