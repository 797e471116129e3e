// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/confirm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

#include "common/interval.hpp"
#include "tuner/loop/objectives.hpp"

namespace steptune {
namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

/// The confirming runs by pair; a null pointer where a run is missing.
std::map<int, ConfirmPair> runs_by_pair(const std::vector<TrialRecord>& trials) {
  std::map<int, ConfirmPair> pairs;
  for (const TrialRecord& trial : trials) {
    if (trial.purpose == TrialPurpose::confirm_incumbent)
      pairs[trial.confirm_pair].incumbent = &trial;
    if (trial.purpose == TrialPurpose::confirm_baseline)
      pairs[trial.confirm_pair].baseline = &trial;
  }
  return pairs;
}

/// A baseline may violate a guard and still be what the user runs today.
bool is_usable(const TrialRecord& trial) {
  return trial.status == TrialStatus::completed ||
         (trial.purpose == TrialPurpose::confirm_baseline &&
          trial.status == TrialStatus::infeasible && !trial.objectives.empty());
}

bool is_measured(const StudySpec& study, const TrialRecord* trial) {
  return trial != nullptr && is_usable(*trial) &&
         trial->objectives.size() == study.objectives.size();
}

bool failed(const TrialRecord* trial) {
  return trial != nullptr && is_final(trial->status) && !is_usable(*trial);
}

/// Logarithm of how many times better the incumbent is; NaN if ratios mean nothing here.
double log_ratio(const StudySpec& study, double incumbent, double baseline) {
  if (!(incumbent > 0.0) || !(baseline > 0.0)) return k_nan;
  const double log_ratio = std::log(baseline / incumbent);
  return study.objectives.front().direction == Direction::maximize ? -log_ratio : log_ratio;
}

/// Standard error of that logarithm, by the delta method.
double log_error(const TrialRecord& incumbent, const TrialRecord& baseline) {
  return std::hypot(incumbent.standard_errors[0] / incumbent.objectives[0],
                    baseline.standard_errors[0] / baseline.objectives[0]);
}

SpeedUp with_interval(double log_ratio, double log_half_width, std::size_t pairs) {
  return {std::exp(log_ratio), std::exp(log_ratio - log_half_width),
          std::exp(log_ratio + log_half_width), static_cast<int>(pairs)};
}

}  // namespace

std::vector<ConfirmPair> confirmed_pairs(const StudySpec& study,
                                         const std::vector<TrialRecord>& trials,
                                         const Configuration& configuration) {
  std::vector<ConfirmPair> pairs;
  for (const auto& [number, pair] : runs_by_pair(trials)) {
    if (is_measured(study, pair.incumbent) && is_measured(study, pair.baseline) &&
        pair.incumbent->configuration == configuration) {
      pairs.push_back(pair);
    }
  }
  return pairs;
}

std::optional<ConfirmStep> next_confirm_step(const StudySpec& study,
                                             const std::vector<TrialRecord>& trials,
                                             const Configuration& configuration, int pairs) {
  int done = 0;
  int last_pair = 0;
  for (const auto& [number, pair] : runs_by_pair(trials)) {
    last_pair = std::max(last_pair, number);
    const bool of_this =
        pair.incumbent != nullptr && pair.incumbent->configuration == configuration;
    if (!of_this) continue;
    if (failed(pair.incumbent) || failed(pair.baseline)) return std::nullopt;
    if (!is_measured(study, pair.incumbent)) return std::nullopt;
    if (pair.baseline == nullptr) return ConfirmStep{TrialPurpose::confirm_baseline, number};
    if (!is_measured(study, pair.baseline)) return std::nullopt;
    ++done;
  }
  if (done >= pairs) return std::nullopt;
  return ConfirmStep{TrialPurpose::confirm_incumbent, last_pair + 1};
}

bool refutes(const TrialRecord& trial) {
  return trial.purpose == TrialPurpose::confirm_incumbent && failed(&trial);
}

SpeedUp speed_up_of_pairs(const StudySpec& study, const std::vector<ConfirmPair>& pairs) {
  if (pairs.empty()) return {};
  std::vector<double> logs;
  for (const auto& pair : pairs) {
    logs.push_back(log_ratio(study, pair.incumbent->objectives[0], pair.baseline->objectives[0]));
  }
  const auto count = static_cast<double>(logs.size());
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / count;
  if (logs.size() == 1) {
    return with_interval(mean, k_z_95 * log_error(*pairs[0].incumbent, *pairs[0].baseline), 1);
  }
  double squares = 0.0;
  for (const double log : logs)
    squares += (log - mean) * (log - mean);
  const double standard_error = std::sqrt(squares / (count - 1.0) / count);
  const boost::math::students_t distribution(count - 1.0);
  return with_interval(mean, boost::math::quantile(distribution, 0.975) * standard_error,
                       logs.size());
}

SpeedUp speed_up_of_trials(const StudySpec& study, const TrialRecord& incumbent,
                           const TrialRecord& baseline) {
  if (incumbent.number == baseline.number) return {};
  return with_interval(log_ratio(study, incumbent.objectives[0], baseline.objectives[0]),
                       k_z_95 * log_error(incumbent, baseline), 0);
}

}  // namespace steptune
