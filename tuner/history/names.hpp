// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/enum_names.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

// Do not change these texts: databases contain them.
inline constexpr auto k_trial_purpose_names = enum_names<TrialPurpose>({
    {TrialPurpose::baseline, "baseline"},
    {TrialPurpose::hint, "hint"},
    {TrialPurpose::search, "search"},
    {TrialPurpose::sentinel, "sentinel"},
    {TrialPurpose::confirm_incumbent, "confirm_incumbent"},
    {TrialPurpose::confirm_baseline, "confirm_baseline"},
});
inline constexpr auto k_trial_status_names = enum_names<TrialStatus>({
    {TrialStatus::launching, "launching"},
    {TrialStatus::running, "running"},
    {TrialStatus::completed, "completed"},
    {TrialStatus::stopped_early, "stopped_early"},
    {TrialStatus::infeasible, "infeasible"},
    {TrialStatus::failed, "failed"},
    {TrialStatus::out_of_memory, "out_of_memory"},
    {TrialStatus::interrupted, "interrupted"},
});
inline constexpr auto k_study_status_names = enum_names<StudyStatus>({
    {StudyStatus::running, "running"},
    {StudyStatus::interrupted, "interrupted"},
    {StudyStatus::finished, "finished"},
});

}  // namespace steptune
