// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include "common/configuration.hpp"
#include "common/document/string_template.hpp"
#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/config_edit/config_edit.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Reads a configuration file, to store it with its study: at most 1 MiB of UTF-8. Fails with
/// `not_found` or `usage`; the error names no place.
[[nodiscard]] Result<std::string> read_config_file(const std::filesystem::path& file);

/// Values of a configuration file for one configuration of a study, as `config_changes` needs them.
struct ConfigValues {
  /// Values by name. A value that is exactly one parameter's value has that parameter's name. All
  /// other values, and further copies of the same parameter's value, are named by their key in the
  /// file.
  Configuration values;
  ConfigKeys keys;
};
[[nodiscard]] ConfigValues config_values(const ConfigFileSpec& config,
                                         const Configuration& configuration);
/// Returns the files by name: `{"file": "/train/ds.json", "values": {"bf16.enabled": true}}`, with
/// values by key.
[[nodiscard]] Json config_files_json(const StudySpec& study, const Configuration& configuration);
/// True if all files have the same values under both configurations.
[[nodiscard]] bool same_config_files(const StudySpec& study, const Configuration& one,
                                     const Configuration& other);

/// Returns the file's text as a trial of that configuration reads it.
[[nodiscard]] Result<std::string> config_text(const ConfigFileSpec& config,
                                              const Configuration& configuration);

/// Returns, by name, the paths of the copies for the trial with this log: `trial-7.ds.json` beside
/// `trial-7.log`. Empty if the log has no path.
[[nodiscard]] document::NamedTexts config_copies(const StudySpec& study,
                                                 const std::filesystem::path& log_path);
/// Returns the paths for the study's runner: `config_copies`, or `carried_config_paths` if its
/// trials do not see this machine's files.
[[nodiscard]] document::NamedTexts trial_config_paths(const StudySpec& study,
                                                      const std::filesystem::path& log_path);

/// Returns, by name, paths for copies on any machine: `/tmp/steptune/ds.json`.
[[nodiscard]] document::NamedTexts carried_config_paths(const StudySpec& study);
/// Returns the texts of the files at `carried_config_paths`, by path. Leaves out files that cannot
/// be edited.
[[nodiscard]] std::map<std::string, std::string> carried_config_files(
    const StudySpec& study, const Configuration& configuration);

/// Writes the `config_copies` to a folder that exists. Does not touch copies that already have the
/// right content. Makes paths relative to the original's folder (`file_references`) absolute.
[[nodiscard]] Result<void> write_config_copies(const StudySpec& study,
                                               const Configuration& configuration,
                                               const std::filesystem::path& log_path);

}  // namespace steptune
