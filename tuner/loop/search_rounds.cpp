// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/search_rounds.hpp"

#include <utility>

#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/disturbed_runs.hpp"

namespace steptune {

Result<void> SearchRounds::launch(TrialRecord trial) {
  return begins_round(trial) ? launch_round(std::move(trial)) : launcher_->launch(std::move(trial));
}

bool SearchRounds::begins_round(const TrialRecord& trial) const {
  const StudySpec& study = run_->parts.study;
  return is_searched(trial.purpose) && trial.attempt == 1 && study.measure.sentinels &&
         study.objectives.front().is_timed() && run_->runs_one_at_a_time() && run_->interleaves() &&
         run_->standing().baseline() != nullptr && machine_is_shared(run_->standing().trials());
}

Result<void> SearchRounds::launch_round(TrialRecord first) {
  if (!std::exchange(is_announced_, true)) {
    run_->announce({.kind = "rounds",
                    .text = "other programs use this machine, so trials take turns with the "
                            "baseline"});
  }
  const auto round = static_cast<int>(first.number);
  if (auto launched = launcher_->launch(std::move(first), round); !launched) return launched;
  TrialRecord sentinel =
      run_->new_trial(TrialPurpose::sentinel, "sentinel", run_->parts.study.baseline);
  if (auto launched = launcher_->launch(std::move(sentinel), round); !launched) return launched;
  // A round has at most as many search trials as a confirmation has finalists. More trials would
  // share the cost of one sentinel, but the searcher learns nothing new within a round.
  for (std::size_t trial = 1; trial < k_most_finalists; ++trial) {
    auto next = search_->next();
    if (!next) return tl::unexpected(next.error());
    if (!*next) break;
    if (auto launched = launcher_->launch(**std::move(next), round); !launched) return launched;
  }
  return {};
}

}  // namespace steptune
