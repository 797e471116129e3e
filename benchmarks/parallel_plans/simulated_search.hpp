// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/parallel_plans/training_law.hpp"
#include "common/error.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::parallel_plans {

/// A job's study, as `init` writes it for the job's command.
struct PlanStudy {
  TrainingJob job;
  StudySpec study;
  std::size_t plans = 0;    ///< legal configurations
  std::size_t fitting = 0;  ///< configurations that do not run out of memory
  double best_s = 0.0;      ///< time of the fastest configuration
};

/// Makes a study from a job's Megatron-LM command by the rules of `init`. Leaves out data loading
/// and precision, because the law of `launch` does not cover them. `spaces` is the folder of the
/// ready-made search spaces.
[[nodiscard]] Result<PlanStudy> plan_study(const TrainingJob& job,
                                           const std::filesystem::path& spaces);

/// A searcher, and the facts about memory that it gets.
struct Arm {
  std::string name;      ///< name in the printed table
  std::string searcher;  ///< `random`, `bayes`
  bool knows_peaks = false;
  bool knows_terms = false;
  bool knows_limit = false;
};

/// Returns the arms of the benchmark, in the order of the printed table.
[[nodiscard]] std::vector<Arm> arms();

/// Number of launches until a configuration is within the goal, and number of launches that ran out
/// of memory.
struct SearchResult {
  std::optional<int> launches;  ///< unset: the goal was not reached
  int out_of_memory = 0;
  double best_s = 0.0;  ///< time of the best configuration found
};

/// Searches until a configuration is within 5 % of the best, for at most `most_launches`. The first
/// launch is the baseline. Measured times and peaks vary by 1 %.
[[nodiscard]] Result<SearchResult> simulated_search(const PlanStudy& plan, const Arm& arm,
                                                    std::uint64_t seed, int most_launches);

}  // namespace steptune::parallel_plans
