// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "common/environment.hpp"
#include "common/error.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// The configuration to use, its source, and the command that starts it.
struct BestChoice {
  StudySpec study;
  std::string from_study;       ///< name of the stored study that the trial belongs to
  std::string requested_study;  ///< name of the study for which `best` or `exec` was called
  TrialRecord trial;
  /// Recommendation of the trial's study, if any. It may recommend a trial other than `trial`.
  std::optional<Recommendation> recommendation;
  /// Command with the thread counts of the trial. With other counts, the long run would not be as
  /// fast as measured.
  RenderedCommand command;
  std::string objective;  ///< objective in which the trial is best; empty for the recommendation

  [[nodiscard]] bool is_recommended() const {
    return recommendation && recommendation->incumbent_trial == trial.number;
  }
};

/// Returns the environment variables for a long run of this configuration: the study's variables,
/// and those that load the hook. The hook is loaded if it sets anything in the program or `reports`
/// asks for progress. If the trials have left compiled functions beside their logs
/// (`compile_cache.hpp`), the long run uses them, too. `inherited` is this program's environment.
[[nodiscard]] Result<std::map<std::string, std::string>> long_run_variables(
    const BestChoice& choice, const std::filesystem::path& database, const Environment& inherited,
    bool reports);

/// A stored study and a choice from it.
struct OpenedChoice {
  StoredStudy study;
  BestChoice choice;
};

/// Opens a study (`open_study_in_use`) and chooses its trial `trial`. If `trial` is 0, chooses the
/// best trial of `objective`. If `objective` is empty, too, chooses the configuration that the
/// latest night of `retune` left in use. If there is no such night, chooses the recommended trial.
[[nodiscard]] Result<OpenedChoice> open_choice(const CommandContext& context,
                                               const std::string& study, std::int64_t trial,
                                               const std::string& objective = {});

}  // namespace steptune
