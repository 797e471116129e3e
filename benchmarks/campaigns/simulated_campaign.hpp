// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steptune::campaigns {

/// Rule by which an edit is kept.
enum class Rule {
  campaign,  ///< `judge --campaign`: the allowed error depends on earlier verdicts
  single,    ///< `judge`: each edit has the same allowed error
  greedy,    ///< the edit is faster in one pair
  two_wins,  ///< the edit is faster in both of two pairs
};
[[nodiscard]] std::string to_text(Rule rule);

/// A program whose launches vary, and a sequence of edits to it.
struct CampaignModel {
  std::uint64_t seed = 0;
  int edits = 100;
  double launch_variation = 0.01;  ///< standard deviation of the logarithm of a launch's time
  /// Standard deviation of the logarithm of `launch_variation` among edits, as on a machine whose
  /// load changes.
  double spread = 0.0;
  /// `launch_variation` for the second half of the edits; 0: unchanged.
  double later_variation = 0.0;
  double run_variation = 0.003;  ///< standard deviation of the logarithm of a time within a launch
  int gain_every = 0;            ///< one of this many edits is an improvement; 0: none
  double gain = 0.0;             ///< gain of each improvement, as a share
  Rule rule = Rule::campaign;
  double judge_pair_s = 20.0;  ///< seconds of a pair of runs in `judge`, start-up included
  double judge_time_s = 300.0;
  double fixed_pair_s = 60.0;  ///< seconds of a pair of runs in `greedy` and `two_wins`
};

/// Result of a campaign.
struct CampaignResult {
  int improvements = 0;  ///< edits that are improvements
  int found = 0;         ///< improvements that were kept
  int false_keeps = 0;
  double spent_s = 0.0;
};

/// Simulates a campaign: pairs of launches with log-normal times, and the verdicts of `judge`. The
/// same model gives the same result.
[[nodiscard]] CampaignResult play(const CampaignModel& model);

}  // namespace steptune::campaigns
