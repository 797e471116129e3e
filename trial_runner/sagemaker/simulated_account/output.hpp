// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/rng.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/simulated_account/program.hpp"

namespace steptune::simulated {

/// A turn of a pack's trial, as the job's shell runs it (trial_pack.hpp).
struct SimulatedTurn {
  TrialKey key;
  SimulatedProgram program;
  double given_s = 0.0;  ///< then it is ended
  Rng rng;               ///< of what it prints
  /// After so long the shell finds it slow, or silent, and ends it; nothing: it never does.
  std::optional<double> slow_after_s{};
  std::optional<double> idle_after_s{};

  /// Finds that out: it is slow by `limit`.
  void look_at(const SlowLimit& limit);
  /// Likewise: it is silent for `idle_s`.
  void look_for_silence(double idle_s);
  /// When it is asked to end, if it has not ended by itself.
  [[nodiscard]] double asked_after_s() const;
  /// From its begin to its end.
  [[nodiscard]] double duration_s() const;
  [[nodiscard]] bool is_over() const;
};

/// What one container prints: a greeting, then `[steptune]` reports (docs/reporting.md) about once
/// a second or, with slower steps, after each. Lines come into being when asked for, eight bytes
/// each, so that a program without end costs no more than what has been looked at.
class SimulatedOutput {
 public:
  /// Only a cluster's first machine reports, as rank 0 of a distributed training does.
  SimulatedOutput(const SimulatedProgram& program, bool reports, double start_s, Rng rng);

  /// Of a container that runs a pack: what each trial prints, between the marks of the shell.
  SimulatedOutput(const std::vector<SimulatedTurn>& turns, double start_s, Rng rng);

  /// The container is gone: nothing follows but its last words, if there are any.
  void end(double time_s, std::string last_words);

  /// Makes all lines up to this time; their times never go back.
  void produce_until(double time_s);
  [[nodiscard]] const std::vector<double>& times_s() const { return times_s_; }
  /// The line's text; `index` counts from 0 in `times_s`.
  [[nodiscard]] std::string text(std::size_t index) const;
  /// All samples by that line, of one program's output.
  [[nodiscard]] double samples_at(std::size_t index) const;

 private:
  /// A turn with its marks: as long as it prints, `next` is the first of its lines not yet told.
  struct Turn;
  /// Which line of which turn: its own ones count from 0.
  struct Place {
    std::size_t turn = 0;
    std::ptrdiff_t line = 0;
  };
  static constexpr std::ptrdiff_t k_begin = -1;
  static constexpr std::ptrdiff_t k_over = -2;
  static constexpr std::ptrdiff_t k_end = -3;
  static constexpr std::ptrdiff_t k_slow = -4;
  static constexpr std::ptrdiff_t k_idle = -5;

  [[nodiscard]] std::string report(std::size_t index) const;
  void produce_turns_until(double time_s);
  [[nodiscard]] std::string text_of(const Place& place) const;

  SimulatedProgram program_;
  double start_s_ = 0.0;
  Rng rng_;
  StepTimes step_times_;
  double steps_per_line_ = 0.0;  ///< 0: no reports
  double next_s_ = 0.0;          ///< of the next report
  std::optional<double> end_s_;
  std::string last_words_;
  bool last_words_spoken_ = false;
  std::vector<double> times_s_;
  std::vector<Turn> turns_;    ///< of a pack
  std::vector<Place> places_;  ///< likewise, by line
};

struct SimulatedOutput::Turn {
  SimulatedTurn told;
  double begin_s = 0.0;
  double end_s = 0.0;
  SimulatedOutput output;
  bool begun = false;
  bool ended = false;
  std::size_t next = 0;
};

}  // namespace steptune::simulated
