// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/runner.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace steptune {
namespace {

constexpr std::array<std::pair<OutcomeKind, std::string_view>, 8> k_outcome_names{{
    {OutcomeKind::completed, "completed"},
    {OutcomeKind::stopped, "stopped"},
    {OutcomeKind::failed, "failed"},
    {OutcomeKind::out_of_memory, "out_of_memory"},
    {OutcomeKind::timed_out, "timed_out"},
    {OutcomeKind::hung, "hung"},
    {OutcomeKind::not_started, "not_started"},
    {OutcomeKind::lost, "lost"},
}};

}  // namespace

std::string to_text(OutcomeKind kind) {
  const auto* found =
      std::ranges::find(k_outcome_names, kind, &decltype(k_outcome_names)::value_type::first);
  return found == k_outcome_names.end() ? "unknown" : std::string(found->second);
}

std::optional<OutcomeKind> outcome_kind_from_text(std::string_view text) {
  const auto* found =
      std::ranges::find(k_outcome_names, text, &decltype(k_outcome_names)::value_type::second);
  if (found == k_outcome_names.end()) return std::nullopt;
  return found->first;
}

}  // namespace steptune
