// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "tuner/history/history.hpp"

namespace steptune {
namespace {

template <typename Enum, std::size_t count>
using Names = std::array<std::pair<Enum, std::string_view>, count>;

// Persistent, do not change: these texts stand in databases.
constexpr Names<TrialPurpose, 5> k_purposes{{
    {TrialPurpose::baseline, "baseline"},
    {TrialPurpose::hint, "hint"},
    {TrialPurpose::search, "search"},
    {TrialPurpose::confirm_incumbent, "confirm_incumbent"},
    {TrialPurpose::confirm_baseline, "confirm_baseline"},
}};
constexpr Names<TrialStatus, 8> k_statuses{{
    {TrialStatus::launching, "launching"},
    {TrialStatus::running, "running"},
    {TrialStatus::completed, "completed"},
    {TrialStatus::stopped_early, "stopped_early"},
    {TrialStatus::infeasible, "infeasible"},
    {TrialStatus::failed, "failed"},
    {TrialStatus::out_of_memory, "out_of_memory"},
    {TrialStatus::interrupted, "interrupted"},
}};
constexpr Names<StudyStatus, 3> k_study_statuses{{
    {StudyStatus::running, "running"},
    {StudyStatus::interrupted, "interrupted"},
    {StudyStatus::finished, "finished"},
}};

template <typename Enum, std::size_t count>
std::string name_of(const Names<Enum, count>& names, Enum value) {
  for (const auto& [held, name] : names) {
    if (held == value) return std::string(name);
  }
  return "unknown";
}

template <typename Enum, std::size_t count>
std::optional<Enum> value_of(const Names<Enum, count>& names, std::string_view text) {
  for (const auto& [value, name] : names) {
    if (name == text) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string to_text(TrialPurpose purpose) {
  return name_of(k_purposes, purpose);
}
std::string to_text(TrialStatus status) {
  return name_of(k_statuses, status);
}
std::string to_text(StudyStatus status) {
  return name_of(k_study_statuses, status);
}

std::optional<TrialPurpose> trial_purpose_from_text(std::string_view text) {
  return value_of(k_purposes, text);
}
std::optional<TrialStatus> trial_status_from_text(std::string_view text) {
  return value_of(k_statuses, text);
}
std::optional<StudyStatus> study_status_from_text(std::string_view text) {
  return value_of(k_study_statuses, text);
}

bool is_final(TrialStatus status) {
  return status != TrialStatus::launching && status != TrialStatus::running &&
         status != TrialStatus::interrupted;
}

bool is_ranked(TrialStatus status) {
  return status == TrialStatus::completed || status == TrialStatus::stopped_early;
}

bool is_confirmation(TrialPurpose purpose) {
  return purpose == TrialPurpose::confirm_incumbent || purpose == TrialPurpose::confirm_baseline;
}

}  // namespace steptune
