// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/further_pairs.hpp"

#include <cmath>

#include "common/numbers.hpp"
#include "tuner/verdict/looks.hpp"

namespace steptune {
namespace {

constexpr int k_most_further_pairs = 100;

}  // namespace

double further_pairs(const StudySpec& study, const std::vector<RunPair>& pairs,
                     const BothErrors& errors, const std::optional<KnownLaunches>& known) {
  if (pairs.empty()) return k_nan;
  const LookPlan plan = look_plan(study);
  const double worth = std::log1p(study.search.worth);
  const bool both_ways = study.measure.confirm_all;
  const auto measured = static_cast<int>(pairs.size());
  for (int further = 1; further <= k_most_further_pairs; ++further) {
    const int count = measured + further;
    const auto half_width = [&](double error) {
      const double of_look = error_of_look(count, plan, error);
      return statistics_after(count, study, pairs, of_look, known);
    };
    const auto [mean, standard_error, to_one, has_ratio] = half_width(errors.faster);
    if (!has_ratio || !std::isfinite(to_one)) return k_nan;
    const double other = both_ways ? half_width(errors.other).half_width : to_one;
    const bool is_slower = both_ways && mean + other < 0.0;
    const bool is_tied = mean + other < worth && (!both_ways || mean - other > -worth);
    if (mean - to_one > 0.0 || is_slower || is_tied) return further;
  }
  return k_nan;
}

}  // namespace steptune
