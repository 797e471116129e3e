// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/report/recommendation.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Opens the database and finds a study by name, or by the path of its study file; an empty `name`
/// means the latest.
[[nodiscard]] Result<StoredStudy> open_stored_study(const CommandContext& context,
                                                    const std::string& name);

/// A study whose result is to be used.
struct StudyInUse {
  std::string name;  ///< of the study that was asked for
  StoredStudy study;
  std::int64_t trial = 0;  ///< that is in use; 0: as the study itself says
};

/// The same, but that without a name, and no trial of its own that is asked for (`trial` 0), no
/// night's study is meant: it is the one that was tuned again. Of a study that `retune --from`
/// began, so that it was never tuned itself, the study with the trial that its latest night trains
/// with, which is told.
[[nodiscard]] Result<StudyInUse> open_study_in_use(const CommandContext& context,
                                                   const std::string& name, std::int64_t trial = 0);

/// The trial that is meant: `asked` of the study that was asked for, 0: the one in use. An error of
/// kind `not_found` where that study has no trials of its own, which another study's must not stand
/// in for.
[[nodiscard]] Result<std::int64_t> trial_in_use(const StudyInUse& in_use, std::int64_t asked);

/// The stored study that a chosen trial is of, where that is a night of re-tuning (`from_study`);
/// nothing where it is `study` itself.
[[nodiscard]] Result<std::optional<StoredStudy>> open_study_of_night(const CommandContext& context,
                                                                     const StoredStudy& study,
                                                                     const std::string& from_study);

/// Says, on stderr, of a study that is still being tuned or was interrupted, that what is read of
/// it now may change.
void warn_if_unfinished(const CommandContext& context, const StudyRecord& study);

/// The number of a trial as a user gives it; an error of kind `usage` for anything else.
[[nodiscard]] Result<std::int64_t> trial_number(const std::string& text);

/// Whether a study may be called so; the error, of kind `usage`, is for the option `--name`.
[[nodiscard]] Result<void> check_study_name(const std::string& name);

/// The files of this folder that are called `study.json` or `NAME.study.json`, by name.
[[nodiscard]] std::vector<std::string> study_files_here();

/// Reads a study file; every fault of it, a missing file included, is of kind `usage`.
[[nodiscard]] Result<StudySpec> open_study_file(const CommandContext& context,
                                                const std::string& path);

/// Words for what is told of the study, without what was used of machines without a price.
[[nodiscard]] RecommendationContext study_words(const CommandContext& context,
                                                const StoredStudy& study);
/// The same with it and with the facts of the result (`add_study_facts`). Reads the study's trials
/// if there is no price.
[[nodiscard]] RecommendationContext recommendation_context(const CommandContext& context,
                                                           const StoredStudy& study,
                                                           const Configuration& advised);

}  // namespace steptune
