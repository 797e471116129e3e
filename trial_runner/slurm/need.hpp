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

/// What a trial needs to be held for it. Trials of equal needs share allocations, one after
/// another.
struct Need {
  int nodes = 1;
  /// Long options of sbatch without their dashes, in the section's order: `partition=gpu`,
  /// `gpus-per-node=2`. Without `mem` it is all memory of the nodes; `k_site_memory`: what the site
  /// gives to those who ask for none.
  std::vector<std::string> options{};
  auto operator<=>(const Need&) const = default;

  /// The value of an option; nothing where it is not given.
  [[nodiscard]] std::optional<std::string> value_of(std::string_view option) const;
};

/// For people: `2 nodes partition=gpu`.
[[nodiscard]] std::string words_of(const Need& need);

/// The need as machines that are rented: `2 node partition=gpu`.
[[nodiscard]] Resources to_resources(const Need& need);
/// Nothing for machines that are not written so.
[[nodiscard]] std::optional<Need> need_of(const Resources& resources);

/// Whether a value can stand in one word of sbatch's command line without being taken for more than
/// a value: no blanks, no quotes, no leading dash.
[[nodiscard]] bool is_option_value(std::string_view value);

/// Seconds of sbatch's `--time`: `90` (minutes), `90:00`, `1:30:00`, `2-12`, `2-12:30`,
/// `2-12:30:00`. Nothing for other texts, and for `UNLIMITED`.
[[nodiscard]] std::optional<double> time_limit_s(std::string_view text);

}  // namespace steptune::slurm
