// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/rng.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/simulated_account/program.hpp"
#include "trial_runner/sagemaker/trial_pack.hpp"

namespace steptune::simulated {

/// A trial that the job's shell runs in a pack (trial_pack.hpp).
struct SimulatedTrial {
  TrialKey key;
  SimulatedProgram program;
  double given_s = 0.0;  ///< the shell ends the trial after this time
  Rng rng;               ///< random numbers for its output
  /// Times after which the shell ends the trial because it is slow or silent; nullopt: never.
  std::optional<double> slow_after_s{};
  std::optional<double> idle_after_s{};

  /// Sets `slow_after_s`, if the program is slower than the limit.
  void apply_slow_limit(const SlowLimit& limit);
  /// Sets `idle_after_s`, if the program is silent for `idle_s`.
  void apply_idle_limit(double idle_s);
  /// Returns the time from the trial's start until the shell ends the program, if it still runs.
  [[nodiscard]] double asked_after_s() const;
  /// Returns the time from the trial's start to its end.
  [[nodiscard]] double duration_s() const;
  /// True if the shell ends the program before it ends by itself.
  [[nodiscard]] bool is_over() const;
};

/// Output of one container: a first line, then `[steptune]` reports (docs/reporting.md) about once
/// a second, or after each step if steps are slower. Makes lines on demand, so a program that never
/// ends needs only eight bytes of memory for each line that was read.
class SimulatedOutput {
 public:
  /// `reports` is true only for a cluster's first machine, because only rank 0 of a distributed
  /// training reports.
  SimulatedOutput(const SimulatedProgram& program, bool reports, double start_s, Rng rng);

  /// Creates the output of a container that runs a pack: the trials' lines between the shell's
  /// marks.
  SimulatedOutput(const std::vector<SimulatedTrial>& trials, double start_s, Rng rng);

  /// Ends the output, with `last_words` as the last line if it is not empty.
  void end(double time_s, std::string last_words);

  /// Makes all lines up to this time. The times of lines never decrease.
  void produce_until(double time_s);
  [[nodiscard]] const std::vector<double>& times_s() const { return times_s_; }
  /// Returns a line's text. `index` counts from 0 in `times_s`.
  [[nodiscard]] std::string text(std::size_t index) const;
  /// Returns the samples processed up to that line, for the output of one program.
  [[nodiscard]] double samples_at(std::size_t index) const;

 private:
  /// A trial with its output. `next` is its first line that is not in `places_` yet.
  struct TrialOutput;
  /// A line of a pack: a mark of the shell, or the number of a line in the trial's output, from 0.
  struct Place {
    std::size_t trial = 0;
    std::size_t line = 0;
    std::optional<PackMark::Kind> mark{};
  };

  [[nodiscard]] std::string report(std::size_t index) const;
  void produce_trials_until(double time_s);
  [[nodiscard]] std::string text_of(const Place& place) const;

  SimulatedProgram program_;
  double start_s_ = 0.0;
  Rng rng_;
  StepTimes step_times_;
  double steps_per_line_ = 0.0;  ///< 0: no reports
  double next_s_ = 0.0;          ///< time of the next report
  std::optional<double> end_s_;
  std::string last_words_;
  bool last_words_spoken_ = false;
  std::vector<double> times_s_;
  std::vector<TrialOutput> trials_;  ///< trials of a pack
  std::vector<Place> places_;        ///< origin of each line of a pack
};

struct SimulatedOutput::TrialOutput {
  SimulatedTrial spec;
  double begin_s = 0.0;
  double end_s = 0.0;
  SimulatedOutput output;
  bool begun = false;
  bool ended = false;
  std::size_t next = 0;
};

}  // namespace steptune::simulated
