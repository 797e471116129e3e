// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/further_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "common/numbers.hpp"
#include "tuner/verdict/looks.hpp"

namespace steptune {

double further_pairs(const StudySpec& study, const std::vector<RunPair>& pairs,
                     const BothErrors& errors, const std::optional<KnownLaunches>& known) {
  if (pairs.empty()) return k_nan;
  const LookPlan plan = look_plan(study);
  const double worth = std::log1p(study.search.worth);
  const bool both_ways = study.measure.confirm_all;
  const auto measured = static_cast<int>(pairs.size());
  const int least = std::max(1, least_for_claim(study, pairs) - measured);
  // If more pairs are needed, the mean is so near to a limit that their number says little.
  for (int further = least; further <= k_most_confirm_pairs; ++further) {
    const int count = measured + further;
    const auto look = [&](double error) {
      const double of_look = error_of_look(count, plan, error);
      return statistics_after(count, study, pairs, of_look, known);
    };
    const PairStatistics faster = look(errors.faster);
    if (!faster.has_ratio || !std::isfinite(faster.half_width)) return k_nan;
    const double mean = faster.mean;
    const double other = both_ways ? look(errors.other).half_width : faster.half_width;
    const bool is_slower = both_ways && mean + other < 0.0;
    const bool is_tied = mean + other < worth && (!both_ways || mean - other > -worth);
    if (mean > faster.half_width || is_slower || is_tied) return further;
  }
  return k_nan;
}

}  // namespace steptune
