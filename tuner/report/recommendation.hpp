// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/json.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/report/outcome.hpp"
#include "tuner/report/setting_changes.hpp"
#include "tuner/verdict/recommendation.hpp"

namespace steptune {

/// Facts about a study that the texts of its result need.
struct RecommendationContext {
  std::string study;  ///< study as named in commands: `resnet-nightly`, `resnet-nightly --db PATH`
  std::vector<ObjectiveView> objectives;
  std::vector<std::string> parameter_order;
  bool hooked = false;    ///< the hook applies settings for which the program has no options
  bool attached = false;  ///< the confirming runs were turns within the long run (`exec --tune`)
  std::filesystem::path database{};  ///< where the study is stored
  /// Machine-hours of the tuning on machines without a price (`MachineHours`).
  std::optional<double> machine_hours{};
  bool has_command = true;  ///< the study has a command, so that `exec` and `best` can give one
  bool runs_here = true;    ///< the study's command is for this machine
  std::string command{};    ///< words of a command without placeholders; empty: no command is shown
  std::vector<SettingChange> changes{};
  /// Samples per step today and as recommended, if they differ.
  std::optional<std::pair<double, double>> batches{};
  bool others_measured = true;              ///< a trial other than the baseline was measured
  bool confirms = true;                     ///< the study ends with fresh launches
  std::optional<double> pair_s{};           ///< seconds of a further pair of fresh launches
  std::optional<double> loading_ceiling{};  ///< `StudySpec::loading_ceiling`
  std::string rerun{};  ///< command that continues the study, without `--time`; empty: none
};

/// Returns the context. Leaves out machine-hours and facts about the study's result.
/// `database_option` is ` --db PATH` or empty.
[[nodiscard]] RecommendationContext study_context(const StoredStudy& study,
                                                  const std::string& database_option,
                                                  const std::filesystem::path& database);

/// Adds facts from the stored study: changes, command, batches, time of a pair. `advised` is the
/// recommended configuration. Changes nothing if this version cannot read the study.
void add_study_facts(RecommendationContext& context, const StoredStudy& study,
                     const Configuration& advised);

/// Returns the result as lines: the verdict, `change`, `plan` (or `rate`), `cost` and `next`. Adds
/// `range` if a change reaches the end of its range, and `limit` if nothing should change. No line
/// except commands exceeds `width` columns (0: no limit). Ends with a newline.
[[nodiscard]] std::string recommendation_text(const Recommendation& recommendation,
                                              const RecommendationContext& context,
                                              std::size_t width = 0);

/// Returns `recommendation_text` without the line `next`.
[[nodiscard]] std::string result_text(const Recommendation& recommendation,
                                      const RecommendationContext& context, std::size_t width = 0);

/// Returns lines for `--verbose`: other finalists, ties, trade-offs, the basis of the plan's
/// extrapolation, counts, the page cache and notes. May be empty.
[[nodiscard]] std::string details_text(const Recommendation& recommendation,
                                       const RecommendationContext& context, std::size_t width = 0);

/// Returns the result of one configuration's confirming runs: `trial 7: 1.21 times as fast (95 %
/// interval 1.15-1.27, 6 launches each): faster, too`.
[[nodiscard]] std::string finalist_text(const FinalistResult& finalist,
                                        const RecommendationContext& context);

/// Returns the JSON that `--json` prints: the recommendation's record, and further fields that need
/// the study.
[[nodiscard]] Json recommendation_json(const Recommendation& recommendation,
                                       const RecommendationContext& context);

/// Returns only the verdict: `2.13 times as fast (95 % interval 2.05-2.21, 9 launches each)`.
[[nodiscard]] VerdictSentence verdict_sentence(const Recommendation& recommendation,
                                               const RecommendationContext& context);

}  // namespace steptune
