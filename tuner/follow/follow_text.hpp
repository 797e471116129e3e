// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json_record.hpp"
#include "tuner/follow/follower.hpp"

namespace steptune {

/// Returns one line about the current state: `1.2 h 3.4e+07 samples 812 samples/s now (801-823),
/// promised 830 (815-846)`.
[[nodiscard]] std::string follow_line(const Promise& promise, const FollowState& state);

/// Returns the whole report as lines; ends with a newline.
[[nodiscard]] std::string follow_text(const Promise& promise, const FollowState& state);

/// A phase as `follow --json` shows it.
struct FollowedPhase {
  double count = 0.0;
  double seconds = 0.0;
  double period_samples = 0.0;
};

template <>
const JsonRecord<Interval95>& json_record<Interval95>();
template <>
const JsonRecord<FollowedPhase>& json_record<FollowedPhase>();
template <>
const JsonRecord<Promise>& json_record<Promise>();
/// Fields of the JSON about the run. `follow_json` adds the trial, the configuration and the
/// promised figures.
template <>
const JsonRecord<FollowState>& json_record<FollowState>();
/// Returns the report as JSON, for programs. The caller adds the name of the study.
[[nodiscard]] Json follow_json(const Promise& promise, const FollowState& state);

}  // namespace steptune
