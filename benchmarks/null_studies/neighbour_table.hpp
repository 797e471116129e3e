// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <CLI/CLI.hpp>

namespace steptune::null_studies {

/// Table of studies on a machine with neighbours (`Neighbours`). It has a cell for each true
/// speed-up, launch variation and budget, with and without turns.
struct NeighbourTable {
  int studies = 100;  ///< number of studies in each cell
  std::uint64_t first_seed = 0;
  double step_noise = 0.01;  ///< relative standard deviation of a step
  double warmup_steps = 2.0;
  int neighbours = 2;
  double slowness = 1.0;  ///< factor on all times for each busy neighbour
  int configurations = 8;
  double worth = 0.0;  ///< `search.worth`
  std::vector<double> truths{1.0, 1.1, 1.3, 1.5};
  std::vector<double> launch_variations{0.01, 0.05, 0.1};
  std::vector<bool> turns{false, true};
  std::vector<bool> rounds{true};  ///< if true, the search's trials take turns, too
  /// Speeds of the configurations, used instead of `configurations` and `truths`. The first is the
  /// baseline's speed.
  std::vector<double> speeds{};
};

/// Adds the options that only this table has.
void add_neighbour_options(CLI::App& app, NeighbourTable& table);

/// Prints a row for each cell. If a study cannot run, prints the error on stderr and returns false.
[[nodiscard]] bool print_neighbours(const NeighbourTable& table);

}  // namespace steptune::null_studies
