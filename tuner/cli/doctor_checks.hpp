// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/machine/system_files.hpp"
#include "trial_runner/diagnosis.hpp"
#include "tuner/history/file_system.hpp"

namespace steptune {

/// Returns the version of the SQLite library in use.
[[nodiscard]] std::string sqlite_version();

/// Returns a status as `doctor` prints it.
[[nodiscard]] std::string to_text(DiagnosisStatus status);

[[nodiscard]] Diagnosis check_governor(const SystemFiles& files);
[[nodiscard]] Diagnosis check_load(const SystemFiles& files, int usable_cpus);
[[nodiscard]] Diagnosis check_smt(const SystemFiles& files);
[[nodiscard]] Diagnosis check_memory(const SystemFiles& files);
[[nodiscard]] Diagnosis check_gpu(const SystemFiles& files);
[[nodiscard]] Diagnosis check_clock_source(const SystemFiles& files);
/// Checks the CPUs that this process may use. `allowed` is its CPU affinity.
[[nodiscard]] Diagnosis check_cpus(const SystemFiles& files, const std::vector<int>& allowed);
/// Checks the free space on the file system for `database`.
[[nodiscard]] Diagnosis check_disk(const std::filesystem::path& database);
/// Checks that a database can be written on this kind of file system.
[[nodiscard]] Diagnosis check_file_system(const FileSystemKind& kind);

}  // namespace steptune
