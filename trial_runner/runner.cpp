// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/runner.hpp"

#include "common/enum_names.hpp"

namespace steptune {
namespace {

constexpr auto k_outcome_names = enum_names<OutcomeKind>({
    {OutcomeKind::completed, "completed"},
    {OutcomeKind::stopped, "stopped"},
    {OutcomeKind::failed, "failed"},
    {OutcomeKind::out_of_memory, "out_of_memory"},
    {OutcomeKind::timed_out, "timed_out"},
    {OutcomeKind::hung, "hung"},
    {OutcomeKind::not_started, "not_started"},
    {OutcomeKind::lost, "lost"},
});

}  // namespace

std::string to_text(OutcomeKind kind) {
  return std::string(k_outcome_names.name_of(kind));
}

}  // namespace steptune
