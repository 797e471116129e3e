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
    const PairStatistics look = statistics_after(count, study, pairs, known);
    const double faster = look.half_width(error_of_look(count, plan, errors.faster));
    if (!look.has_ratio || !std::isfinite(faster)) return k_nan;
    const double mean = look.mean;
    const double other =
        both_ways ? look.half_width(error_of_look(count, plan, errors.other)) : faster;
    const bool is_slower = both_ways && mean + other < 0.0;
    const bool is_tied = mean + other < worth && (!both_ways || mean - other > -worth);
    if (mean > faster || is_slower || is_tied) return further;
  }
  return k_nan;
}

}  // namespace steptune
