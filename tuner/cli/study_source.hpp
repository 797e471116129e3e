// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/recommendation.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Opens the database and finds a study by name or by the path of its study file. An empty `name`
/// means the latest study.
[[nodiscard]] Result<StoredStudy> open_stored_study(const CommandContext& context,
                                                    const std::string& name);

/// A study whose result is used.
struct StudyInUse {
  std::string name;  ///< name of the requested study
  StoredStudy study;
  std::int64_t trial = 0;  ///< trial in use; 0: the trial that the study recommends
};

/// Like `open_stored_study`, with two differences. First, a night of `retune` may have made the
/// latest study. If neither `name` nor `trial` is given, then opens the study that was retuned.
/// Second, a study may have nights but no trials of its own (`retune --from`). Then prints a
/// message, and returns the study and the trial that the latest night left in use.
[[nodiscard]] Result<StudyInUse> open_study_in_use(const CommandContext& context,
                                                   const std::string& name, std::int64_t trial = 0);

/// Returns the requested trial `asked`. If `asked` is 0, returns the trial in use. Returns
/// `not_found` if `asked` is given, but the requested study has no trials because the trial in use
/// belongs to another study.
[[nodiscard]] Result<std::int64_t> trial_in_use(const StudyInUse& in_use, std::int64_t asked);

/// Opens `from_study`, the study of a chosen trial. Returns nullopt if that is `study` itself.
[[nodiscard]] Result<std::optional<StoredStudy>> open_study_of_night(const CommandContext& context,
                                                                     const StoredStudy& study,
                                                                     const std::string& from_study);

/// Prints on stderr that results may change, if a study is still being tuned or was interrupted.
void warn_if_unfinished(const CommandContext& context, const StudyRecord& study);

/// Returns the style of text on stdout.
[[nodiscard]] TextStyle style_on_stdout(const Console& console);

/// Prints a part of a study: `text()`, or with `--json` a document. The document has the study, and
/// `json()` as the member `part`.
ExitCode print_part(CommandContext& context, const StudyRecord& study, const char* part,
                    const std::function<Json()>& json, const std::function<std::string()>& text);

/// Parses a trial's number; returns `usage` for any other text.
[[nodiscard]] Result<std::int64_t> trial_number(const std::string& text);

/// Returns `usage`, for the option `--name`, if a study may not have this name.
[[nodiscard]] Result<void> check_study_name(const std::string& name);

/// Returns the files of this folder named `study.json` or `NAME.study.json`, sorted.
[[nodiscard]] std::vector<std::string> study_files_here();

/// Reads a study file. Every error, including a missing file, is of kind `usage`.
[[nodiscard]] Result<StudySpec> open_study_file(const CommandContext& context,
                                                const std::string& path);

/// Returns the context. Leaves out machine-hours and facts about the study's result.
[[nodiscard]] RecommendationContext study_context(const CommandContext& context,
                                                  const StoredStudy& study);
/// Returns `study_context` with machine-hours and facts about the result (`add_study_facts`). Reads
/// the study's trials if there is no price.
[[nodiscard]] RecommendationContext recommendation_context(const CommandContext& context,
                                                           const StoredStudy& study,
                                                           const Configuration& advised);

}  // namespace steptune
