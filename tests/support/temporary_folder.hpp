// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace steptune {

/// A new folder, which the destructor removes with its content.
class TemporaryFolder {
 public:
  /// `purpose` becomes part of the folder's name.
  explicit TemporaryFolder(const std::string& purpose, const std::filesystem::path& parent =
                                                           std::filesystem::temp_directory_path()) {
    std::string name = (parent / ("steptune-" + purpose + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code fault;
    if (!kept_) std::filesystem::remove_all(path_, fault);
  }

  /// Keeps the folder, for a person to look into.
  void keep() { kept_ = true; }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Writes a file in the folder, and creates the folders above it. Returns the file's path.
  std::filesystem::path write(const std::filesystem::path& file, const std::string& bytes) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file, std::ios::binary) << bytes;
    return path_ / file;
  }

 private:
  std::filesystem::path path_;
  bool kept_ = false;
};

/// A temporary folder for databases. It is in memory if the system has `/dev/shm`, because durable
/// commits are fast there. Programs in it may not be executable.
class DatabaseFolder : public TemporaryFolder {
 public:
  DatabaseFolder() : TemporaryFolder("database", parent()) {}

 private:
  static std::filesystem::path parent() {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code fault;
    return std::filesystem::is_directory(memory, fault) ? memory
                                                        : std::filesystem::temp_directory_path();
  }
};

}  // namespace steptune
