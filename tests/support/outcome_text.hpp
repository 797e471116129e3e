// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/enum_names.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Returns the outcome's name for messages of failing tests.
[[nodiscard]] inline std::string to_text(OutcomeKind kind) {
  static constexpr auto k_names = enum_names<OutcomeKind>({
      {OutcomeKind::completed, "completed"},
      {OutcomeKind::stopped, "stopped"},
      {OutcomeKind::failed, "failed"},
      {OutcomeKind::out_of_memory, "out_of_memory"},
      {OutcomeKind::timed_out, "timed_out"},
      {OutcomeKind::hung, "hung"},
      {OutcomeKind::not_started, "not_started"},
      {OutcomeKind::lost, "lost"},
  });
  return std::string(k_names.name_of(kind));
}

}  // namespace steptune
