// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/names.hpp"

#include <algorithm>

namespace steptune {

std::string to_text(TrialPurpose purpose) {
  return std::string(k_trial_purpose_names.name_of(purpose));
}
std::string to_text(TrialStatus status) {
  return std::string(k_trial_status_names.name_of(status));
}
std::string to_text(StudyStatus status) {
  return std::string(k_study_status_names.name_of(status));
}

std::optional<TrialPurpose> trial_purpose_from_text(std::string_view text) {
  return k_trial_purpose_names.value_of(text);
}
std::optional<TrialStatus> trial_status_from_text(std::string_view text) {
  return k_trial_status_names.value_of(text);
}
std::optional<StudyStatus> study_status_from_text(std::string_view text) {
  return k_study_status_names.value_of(text);
}

bool is_final(TrialStatus status) {
  return status != TrialStatus::launching && status != TrialStatus::running &&
         status != TrialStatus::interrupted;
}

bool is_ranked(TrialStatus status) {
  return status == TrialStatus::completed || status == TrialStatus::stopped_early;
}

bool was_measured(TrialStatus status) {
  return is_ranked(status) || status == TrialStatus::infeasible;
}

bool is_confirmation(TrialPurpose purpose) {
  return purpose == TrialPurpose::confirm_incumbent || purpose == TrialPurpose::confirm_baseline;
}

bool is_compared(TrialPurpose purpose) {
  return purpose == TrialPurpose::baseline || is_searched(purpose);
}

bool is_searched(TrialPurpose purpose) {
  return purpose == TrialPurpose::hint || purpose == TrialPurpose::search;
}

bool runs_baseline(TrialPurpose purpose) {
  return !is_searched(purpose) && purpose != TrialPurpose::confirm_incumbent;
}

bool follows_first_trial(TrialPurpose purpose) {
  return purpose != TrialPurpose::baseline && !is_confirmation(purpose);
}

bool is_measured_baseline(const TrialRecord& trial) {
  return trial.purpose == TrialPurpose::baseline && !trial.objectives.empty() &&
         (trial.status == TrialStatus::completed || trial.status == TrialStatus::infeasible);
}

const TrialRecord* baseline_of(std::span<const TrialRecord> trials) {
  const auto found = std::ranges::find_if(trials, is_measured_baseline);
  return found == trials.end() ? nullptr : &*found;
}

double latest_attempt_s(const TrialRecord& trial) {
  return trial.spent_s - trial.earlier_s;
}

double latest_attempt_usd(const TrialRecord& trial) {
  return trial.spent_usd - trial.earlier_usd;
}

void prepare_next_attempt(TrialRecord& trial) {
  ++trial.attempt;
  trial.earlier_s = trial.spent_s;
  trial.earlier_usd = trial.spent_usd;
}

}  // namespace steptune
