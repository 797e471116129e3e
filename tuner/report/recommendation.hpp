// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/json.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/report/outcome.hpp"
#include "tuner/report/setting_changes.hpp"

namespace steptune {

/// Facts about a study that its result is written with.
struct RecommendationContext {
  std::string study;  ///< as a command names it: `resnet-nightly`, `resnet-nightly --db PATH`
  std::vector<ObjectiveView> objectives;
  std::vector<std::string> parameter_order;
  bool hooked = false;    ///< settings are put into the program, which has no options for them
  bool attached = false;  ///< what confirmed ran within the long run (`exec --tune`)
  std::filesystem::path database{};  ///< where the study is stored
  /// Machine-hours of the tuning on machines without a price, see `MachineHours`.
  std::optional<double> machine_hours{};
  bool has_command = true;  ///< the study has a command, so that `exec` and `best` can give one
  bool runs_here = true;    ///< that command is for this machine
  std::string command{};    ///< the words of a command without placeholders; empty: leave it out
  std::vector<SettingChange> changes{};
  /// Samples per step today and as advised, if they differ.
  std::optional<std::pair<double, double>> batches{};
  bool others_measured = true;     ///< a trial other than the baseline was measured
  bool confirms = true;            ///< the study has fresh launches at its end
  std::optional<double> pair_s{};  ///< seconds of one more pair of fresh launches
  std::string rerun{};  ///< command that continues the study, without `--time`; empty: none
};

/// Fills in what only the stored study says: changes, command, batches, time of a pair. `advised`:
/// the recommended configuration. Members stay as they are if this version cannot read the study.
void add_study_facts(RecommendationContext& context, const StoredStudy& study,
                     const Configuration& advised);

/// The result in at most six kinds of lines: verdict, `change`, `range` if a change ends its range,
/// `plan` (or `rate`), `cost` and `next`. Only commands are wider than `width` columns (0: no
/// limit). Ends with a newline.
[[nodiscard]] std::string recommendation_text(const Recommendation& recommendation,
                                              const RecommendationContext& context,
                                              std::size_t width = 0);

/// The same without `next`.
[[nodiscard]] std::string result_text(const Recommendation& recommendation,
                                      const RecommendationContext& context, std::size_t width = 0);

/// Lines for `--verbose`: other finalists, ties, trade-offs, what the plan is extrapolated from,
/// counts, the page cache and notes. Empty if there is nothing to say.
[[nodiscard]] std::string details_text(const Recommendation& recommendation,
                                       const RecommendationContext& context, std::size_t width = 0);

[[nodiscard]] Json recommendation_json(const Recommendation& recommendation,
                                       const RecommendationContext& context);

/// The verdict alone: `2.13 times as fast (95 % interval 2.05-2.21, 9 launches each)`.
[[nodiscard]] VerdictSentence verdict_sentence(const Recommendation& recommendation,
                                               const RecommendationContext& context);

}  // namespace steptune
