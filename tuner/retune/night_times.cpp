// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night_times.hpp"

#include <cmath>
#include <map>
#include <utility>

#include "tuner/verdict/disturbed_runs.hpp"

namespace steptune {
namespace {

bool has_time(const TrialRecord& trial) {
  return !trial.objectives.empty() && trial.objectives[0] > 0.0 &&
         std::isfinite(trial.objectives[0]);
}

bool is_of_baseline(const TrialRecord& trial) {
  return trial.purpose == TrialPurpose::baseline || trial.purpose == TrialPurpose::confirm_baseline;
}

/// True if the run's time counts. A baseline may violate a guard, because the user runs it today.
bool is_counted(const TrialRecord& trial) {
  const bool ended = trial.status == TrialStatus::completed ||
                     (is_of_baseline(trial) && trial.status == TrialStatus::infeasible);
  return ended && has_time(trial);
}

std::vector<double> logs_of(std::vector<const TrialRecord*> runs) {
  std::vector<double> logs;
  for (const TrialRecord* run : without_disturbed(std::move(runs)))
    logs.push_back(std::log(run->objectives[0]));
  return logs;
}

std::map<int, const TrialRecord*> runs_by_round(const StudySpec& study,
                                                const std::vector<TrialRecord>& trials,
                                                const Configuration& configuration) {
  const TrialPurpose purpose = configuration == study.baseline ? TrialPurpose::confirm_baseline
                                                               : TrialPurpose::confirm_incumbent;
  std::map<int, const TrialRecord*> runs;
  for (const TrialRecord& trial : trials) {
    if (trial.purpose == purpose && trial.configuration == configuration && is_counted(trial)) {
      const TrialRecord*& counted = runs[trial.confirm_pair];
      const bool is_better =
          counted == nullptr || disturbed_share(trial) < disturbed_share(*counted);
      if (is_better) counted = &trial;
    }
  }
  return runs;
}

}  // namespace

double mean_log(const std::vector<double>& logs) {
  double sum = 0.0;
  for (const double log : logs)
    sum += log;
  return sum / static_cast<double>(logs.size());
}

std::vector<double> baseline_times(const std::vector<TrialRecord>& trials) {
  std::vector<const TrialRecord*> runs;
  for (const TrialRecord& trial : trials) {
    if (is_of_baseline(trial) && is_counted(trial)) runs.push_back(&trial);
  }
  return logs_of(std::move(runs));
}

std::vector<double> times_of(const std::vector<TrialRecord>& trials,
                             const Configuration& configuration, bool fresh_only) {
  std::vector<const TrialRecord*> runs;
  for (const TrialRecord& trial : trials) {
    if (trial.configuration != configuration || !is_counted(trial)) continue;
    if (fresh_only && !is_confirmation(trial.purpose)) continue;
    runs.push_back(&trial);
  }
  return logs_of(std::move(runs));
}

std::vector<RunPair> rounds_of(const StudySpec& study, const std::vector<TrialRecord>& trials,
                               const Configuration& challenger, const Configuration& incumbent) {
  const auto challengers = runs_by_round(study, trials, challenger);
  const auto incumbents = runs_by_round(study, trials, incumbent);
  std::vector<RunPair> pairs;
  for (const auto& [round, run] : challengers) {
    const auto other = incumbents.find(round);
    if (other != incumbents.end()) pairs.push_back({run, other->second});
  }
  return pairs;
}

}  // namespace steptune
