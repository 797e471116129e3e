// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"

namespace steptune {

enum class CheckStatus { ok, warn, fail };

/// One line of `doctor`.
struct Check {
  std::string name;  ///< stable, for `--json`: `blas`, `cpu_governor`
  CheckStatus status = CheckStatus::ok;
  std::string found;   ///< what there is
  std::string advice;  ///< what to do; empty if nothing
};
[[nodiscard]] std::string to_text(CheckStatus status);

/// Where the checks look: `/` of the machine, or a folder that stands for it.
struct MachineRoot {
  std::filesystem::path root = "/";
  [[nodiscard]] std::optional<std::string> line(const std::string& path) const;  ///< first line
  [[nodiscard]] std::optional<double> number(const std::string& path) const;
  /// Entries of a folder, sorted; none if it cannot be read.
  [[nodiscard]] std::vector<std::filesystem::path> entries(const std::string& folder) const;
};

/// The BLAS behind a resolved `libblas.so.3`; nothing: no such library.
[[nodiscard]] Check check_blas(const std::optional<std::filesystem::path>& library);
[[nodiscard]] Check check_governor(const MachineRoot& machine);
[[nodiscard]] Check check_load(const MachineRoot& machine, int usable_cpus);
[[nodiscard]] Check check_smt(const MachineRoot& machine);
[[nodiscard]] Check check_memory(const MachineRoot& machine);
[[nodiscard]] Check check_gpu(const MachineRoot& machine);
[[nodiscard]] Check check_clock_source(const MachineRoot& machine);
/// `allowed` CPUs by affinity, `quota` CPUs' worth of time by cgroup.
[[nodiscard]] Check check_cpus(const MachineRoot& machine, const std::vector<int>& allowed,
                               std::optional<double> quota);
/// Room on the file system that will hold `database`.
[[nodiscard]] Check check_disk(const std::filesystem::path& database);

}  // namespace steptune
