// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trial_runner/resources.hpp"

namespace steptune::slurm {

inline constexpr std::string_view k_site_memory = "mem=site";

/// The allocation that a trial needs. Trials with equal specs share allocations, one after another.
struct AllocationSpec {
  int nodes = 1;
  /// Long options of sbatch without their dashes, in the section's order: `partition=gpu`,
  /// `gpus-per-node=2`. Without `mem`, the allocation gets all memory of its nodes. With
  /// `k_site_memory`, it gets the site's default amount.
  std::vector<std::string> options{};
  auto operator<=>(const AllocationSpec&) const = default;

  /// Returns the value of an option; nullopt if it is not set.
  [[nodiscard]] std::optional<std::string> value_of(std::string_view option) const;
};

/// Formats for people: `2 nodes partition=gpu`.
[[nodiscard]] std::string words_of(const AllocationSpec& requested);

/// Represents the spec as `Resources`, whose text is `2 node partition=gpu`.
[[nodiscard]] Resources to_resources(const AllocationSpec& requested);
/// Reads resources that `to_resources` made; nullopt for other resources.
[[nodiscard]] std::optional<AllocationSpec> allocation_spec_of(const Resources& resources);

/// True if the value can be part of one word of sbatch's command line: no blanks, no quotes, no
/// leading dash.
[[nodiscard]] bool is_option_value(std::string_view value);

/// Parses sbatch's `--time` into seconds: `90` (minutes), `90:00`, `1:30:00`, `2-12`, `2-12:30`,
/// `2-12:30:00`. nullopt for other texts and for `UNLIMITED`.
[[nodiscard]] std::optional<double> time_limit_s(std::string_view text);

}  // namespace steptune::slurm
