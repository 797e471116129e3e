// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/counted_runs.hpp"

#include <algorithm>
#include <cstddef>

#include "tuner/verdict/disturbed_runs.hpp"

namespace steptune {
namespace {

/// This many failed runs of the baseline end the confirmation.
constexpr std::ptrdiff_t k_failures_of_baseline = 2;

bool has_failed(const TrialRecord& run) {
  return is_final(run.status) && !is_usable(run);
}

}  // namespace

bool is_usable(const TrialRecord& run) {
  return run.status == TrialStatus::completed ||
         (run.purpose == TrialPurpose::confirm_baseline && run.status == TrialStatus::infeasible &&
          !run.objectives.empty());
}

bool is_measured(const StudySpec& study, const TrialRecord& run) {
  return is_usable(run) && run.objectives.size() == study.objectives.size();
}

bool is_failed_baseline(const TrialRecord& trial) {
  return trial.purpose == TrialPurpose::confirm_baseline && has_failed(trial);
}

bool baseline_has_failed(std::span<const TrialRecord> trials) {
  return std::ranges::count_if(trials, is_failed_baseline) >= k_failures_of_baseline;
}

bool refutes(const TrialRecord& trial) {
  return trial.purpose == TrialPurpose::confirm_incumbent && has_failed(trial);
}

std::vector<const TrialRecord*> counted_runs(const std::vector<TrialRecord>& trials) {
  std::vector<const TrialRecord*> runs;
  for (const TrialRecord& trial : trials) {
    if (!is_confirmation(trial.purpose) || is_failed_baseline(trial)) continue;
    const auto former = std::ranges::find_if(runs, [&](const TrialRecord* run) {
      return run->purpose == trial.purpose && run->confirm_pair == trial.confirm_pair &&
             run->configuration == trial.configuration;
    });
    if (former == runs.end()) {
      runs.push_back(&trial);
    } else if (is_final(trial.status) && disturbed_share(trial) < disturbed_share(**former)) {
      *former = &trial;
    }
  }
  return runs;
}

}  // namespace steptune
