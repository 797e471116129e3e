// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/runner.hpp"

/// A pack: several trials that one job runs in turn on its machine, so that the job's start is paid
/// for once. A shell in the container (run_pack.sh) starts each as a process group of its own,
/// ends it when its time is over, it is clearly slow or silent for too long, and prints when it
/// begins and ends. Nothing can be told to a job that runs, so all that it needs comes with the
/// request.
namespace steptune {

/// One trial of a pack, as the job is told.
struct PackedTrial {
  TrialKey key;
  double seconds = 0.0;                   ///< from its start; then it is ended
  std::optional<SlowLimit> slow_limit{};  ///< what is beyond it is ended before
  std::optional<double> idle_s{};         ///< so is what is silent for so long, phases left out
};

/// What of CreateTrainingJob's input makes a job run a pack.
struct PackRequest {
  std::vector<std::string> words;  ///< of the container's entry point
  std::map<std::string, std::string> environment;
  /// By trial: its parameters as a JSON document, which stand in hyperparameters.json meanwhile.
  std::map<std::string, std::string> hyperparameters;
};

/// How long a trial of a pack may take: what it needs to be measured, at most the wall limit.
[[nodiscard]] double packed_seconds(const TrialSpec& spec);

/// After how many seconds of silence it is ended; nothing: its time is over before.
[[nodiscard]] std::optional<double> packed_idle_seconds(const TrialSpec& spec);

/// `words` of each trial are those of its `entry_point`, without the hook: that is entered once for
/// all (`carry_hook`).
struct PackedCommand {
  const TrialSpec* spec = nullptr;
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;
};
[[nodiscard]] PackRequest pack_request(std::span<const PackedCommand> commands);

/// A trial's parameters as SageMaker gives them to programs: all as text.
[[nodiscard]] std::map<std::string, std::string> hyperparameters_of(
    const Configuration& configuration);

/// The trials of a job, from its `Environment`; none if it runs one trial by itself.
[[nodiscard]] std::vector<PackedTrial> pack_of(const Json& environment);

/// What the job's shell tells of its trials.
struct PackMark {
  /// `slow`, `idle`: it is, so its time is over; `over`: its time is, it is being ended.
  enum class Kind { begin, slow, idle, over, end };
  Kind kind = Kind::begin;
  TrialKey key;
  int exit_code = 0;  ///< of an end; 128 + signal
};
/// Nothing for lines of the programs.
[[nodiscard]] std::optional<PackMark> read_pack_mark(std::string_view line);
/// The line that the job's shell prints.
[[nodiscard]] std::string pack_mark_text(const PackMark& mark);

}  // namespace steptune
