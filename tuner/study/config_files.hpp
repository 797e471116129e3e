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

inline constexpr std::size_t k_largest_config_bytes = std::size_t{1} << 20U;  ///< 1 MiB

/// All of a configuration file, 1 MiB of UTF-8 at most, as it is stored with its study; an error of
/// kind `not_found` or `usage` without `where`.
[[nodiscard]] Result<std::string> read_config_file(const std::filesystem::path& file);

/// What a file is to say under a configuration, as `config_changes` takes it.
struct ConfigValues {
  Configuration values;  ///< by parameter; by key where that is not the value of one alone
  ConfigKeys keys;
};
[[nodiscard]] ConfigValues config_values(const ConfigFileSpec& config,
                                         const Configuration& configuration);
/// By name: `{"file": "/train/ds.json", "values": {"bf16.enabled": true}}`; values by key.
[[nodiscard]] Json config_files_json(const StudySpec& study, const Configuration& configuration);
/// Whether all files say the same under both.
[[nodiscard]] bool same_config_files(const StudySpec& study, const Configuration& one,
                                     const Configuration& other);

/// The file as a trial of that configuration reads it.
[[nodiscard]] Result<std::string> config_text(const ConfigFileSpec& config,
                                              const Configuration& configuration);

/// By name, where the copies of the trial with that log lie: `trial-7.ds.json` beside
/// `trial-7.log`. None where the log has no path.
[[nodiscard]] document::NamedTexts config_copies(const StudySpec& study,
                                                 const std::filesystem::path& log_path);
/// Likewise for the study's runner: where its trials do not see this machine's files, the paths of
/// `carried_config_files`.
[[nodiscard]] document::NamedTexts trial_config_paths(const StudySpec& study,
                                                      const std::filesystem::path& log_path);

/// By name, paths under which copies can be written on any machine: `/tmp/steptune/ds.json`.
[[nodiscard]] document::NamedTexts carried_config_paths(const StudySpec& study);
/// What is to be written there: texts by path.
[[nodiscard]] std::map<std::string, std::string> carried_config_files(
    const StudySpec& study, const Configuration& configuration);

/// Writes the `config_copies`, in a folder that exists; those that are right already stay
/// untouched. Paths relative to the original's folder (`file_references`) become absolute.
[[nodiscard]] Result<void> write_config_copies(const StudySpec& study,
                                               const Configuration& configuration,
                                               const std::filesystem::path& log_path);

}  // namespace steptune
