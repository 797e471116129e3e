// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// How to start what a trial measured.
struct TrialCommand {
  std::vector<std::string> argv;  ///< empty: the study has no command
  /// Variables that the study sets, and the thread counts that the trial ran under: without them a
  /// long run is not what was measured.
  std::map<std::string, std::string> environment;
  std::filesystem::path working_directory;
};

/// The command with the thread counts that the trial ran under. `copies`: paths of its
/// configuration files; the study's own where none is given.
[[nodiscard]] RenderedCommand measured_command(const StudySpec& spec, const TrialRecord& trial,
                                               const document::NamedTexts& copies = {});

/// `study`, `spec`: as they are stored. `database`: where the study is stored; a command that reads
/// it there names it, unless that is where it looks by itself.
[[nodiscard]] TrialCommand trial_command(const StudyRecord& study, const StudySpec& spec,
                                         const TrialRecord& trial,
                                         const std::filesystem::path& database);
/// The same, with what this version makes of the stored study. Errors as `stored_spec`.
[[nodiscard]] Result<TrialCommand> trial_command(const StudyRecord& study, const TrialRecord& trial,
                                                 const std::filesystem::path& database);

}  // namespace steptune
