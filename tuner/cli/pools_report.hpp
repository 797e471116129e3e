// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/sagemaker/held_machines.hpp"

namespace steptune {

/// What `steptune pools` found, and what it has given back.
struct PoolsView {
  std::string region;
  const PriceTable* prices = nullptr;  ///< null: no table for the region
  double now_wall_s = 0.0;
  std::vector<HeldMachines> machines;  ///< those to show; after a release, those still held
  std::size_t hidden = 0;              ///< held by strangers' jobs, not shown
  std::vector<Release> releases;
};

/// For people: a table, what it costs together, and what to do about it.
[[nodiscard]] std::string pools_text(const PoolsView& view);
[[nodiscard]] Json pools_json(const PoolsView& view);

}  // namespace steptune
