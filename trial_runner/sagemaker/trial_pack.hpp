// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/container_start.hpp"

/// A pack is a set of trials that one job runs in turn on its machine. So the study pays for the
/// start of only one job. A shell in the container (run_pack.sh) starts each trial in its own
/// process group. It ends a trial when its time is over, or when it is clearly slow or silent. It
/// prints marks at the start and the end of each trial. A running job accepts no commands, so the
/// request contains all data for the shell.
namespace steptune {

/// One trial of a pack, as written in the request.
struct PackedTrial {
  TrialKey key;
  /// Time after its start at which the shell ends the trial.
  double seconds = 0.0;
  /// Limit beyond which the shell ends a slow trial earlier.
  std::optional<SlowLimit> slow_limit{};
  /// Seconds of silence outside phases after which the shell ends the trial.
  std::optional<double> idle_s{};
};

/// Returns the longest run time of a trial in a pack: the time that its measurement needs, at most
/// its wall limit.
[[nodiscard]] double packed_seconds(const TrialSpec& spec);

/// Returns the silence after which the shell ends the trial; nullopt: the time of the trial is over
/// before that.
[[nodiscard]] std::optional<double> packed_idle_seconds(const TrialSpec& spec);

/// Returns command, hyperparameters and environment of a container that runs a pack, in the code
/// channel's folder if there is one. Each hyperparameter is a JSON document with the parameters of
/// one trial. During that trial's turn, it replaces the container's hyperparameters.json. The hook
/// is set up once for all trials; the caller adds it (`add_carried_hook`).
[[nodiscard]] ContainerStart pack_start(std::span<const TrialSpec* const> trials,
                                        bool in_code_channel);

/// Reads the trials of a job from its `Environment`; empty if it is not a pack.
[[nodiscard]] std::vector<PackedTrial> pack_of(const Json& environment);

/// A message of the job's shell about its trials.
struct PackMark {
  /// `begin`: the trial's turn begins. `slow`, `idle`: the trial is slow or silent, and the shell
  /// will end it. `over`: the shell is ending it. `end`: the trial has ended.
  enum class Kind { begin, slow, idle, over, end };
  Kind kind = Kind::begin;
  TrialKey key;
  /// Exit status, with `end`; 128 + the signal's number if a signal ended the trial.
  int exit_code = 0;
};
/// Parses a line; nullopt for lines of the programs.
[[nodiscard]] std::optional<PackMark> read_pack_mark(std::string_view line);
/// Formats the line that the job's shell prints.
[[nodiscard]] std::string pack_mark_text(const PackMark& mark);

}  // namespace steptune
