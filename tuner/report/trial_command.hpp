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

/// Command that starts a trial's configuration.
struct TrialCommand {
  std::vector<std::string> argv;  ///< empty if the study has no command
  /// Variables that the study sets, and the thread counts with which the trial ran. With other
  /// counts, a long run would not be as fast as measured.
  std::map<std::string, std::string> environment;
  std::filesystem::path working_directory;
};

/// Returns the command with the trial's thread counts. `copies` are the paths of the trial's
/// configuration files. If a path is missing, the command uses the study's own file.
[[nodiscard]] RenderedCommand measured_command(const StudySpec& spec, const TrialRecord& trial,
                                               const document::NamedTexts& copies = {});

/// Returns the command of a trial of a study that `database` stores. If the study has hook settings
/// or configuration files, returns a command `steptune exec`. That command reads the database, so
/// it gets the option `--db` unless `database` is the default path.
[[nodiscard]] TrialCommand trial_command(const StudyRecord& study, const StudySpec& spec,
                                         const TrialRecord& trial,
                                         const std::filesystem::path& database);
/// Returns the same command, with the specification that `study` stores. Errors are those of
/// `stored_spec`.
[[nodiscard]] Result<TrialCommand> trial_command(const StudyRecord& study, const TrialRecord& trial,
                                                 const std::filesystem::path& database);

}  // namespace steptune
