// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/runner_kinds.hpp"

#include <algorithm>
#include <array>

#include "trial_runner/local/local_kind.hpp"
#include "trial_runner/replay/replay_kind.hpp"
#include "trial_runner/sagemaker/sagemaker_kind.hpp"
#include "trial_runner/slurm/slurm_kind.hpp"

namespace steptune {

std::span<const RunnerKind* const> runner_kinds() {
  static const std::array<const RunnerKind*, 4> k_kinds = {
      &local_kind(),
      &replay_kind(),
      &sagemaker_kind(),
      &slurm_kind(),
  };
  return k_kinds;
}

const RunnerKind* find_runner_kind(std::string_view name) {
  const auto kinds = runner_kinds();
  const auto found = std::ranges::find(kinds, name, &RunnerKind::name);
  return found == kinds.end() ? nullptr : *found;
}

}  // namespace steptune
