// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "common/unique_fd.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/live/live_channel.hpp"

namespace steptune::live {

/// After so much training without a word of the tuner the program goes on by itself
/// (`PytorchHookRequest::silence_s`). The tuner answers steps within a second; a fit of its model
/// or a slow disk may keep it for a few.
inline constexpr double k_longest_silence_s = 15.0;

/// A program that runs for its own sake under PyTorch's hook in mode `live`, and whose settings may
/// be switched meanwhile. Neither started nor ended here: when the object goes without `leave`, the
/// program's own settings come back. Not thread safe.
class AttachedProgram {
 public:
  /// `process`: readable once the program has ended (pidfd_open(2)). `clock` outlives the object.
  AttachedProgram(const Clock& clock, LiveChannel channel, UniqueFd process);

  /// Steps that have come, in order: waits for the first until the clock reads `until_s`, or until
  /// the program is gone.
  [[nodiscard]] std::vector<LiveStep> steps(double until_s);

  /// It has ended, or its hook has withdrawn or goes on by itself: there is nothing more to switch.
  [[nodiscard]] bool is_gone() const { return is_gone_; }
  /// The program itself ends within so long. What it connects with goes a moment before it does.
  [[nodiscard]] bool ends_within(double wait_s) const;
  /// What its hook has told.
  [[nodiscard]] const HookLog& log() const { return log_; }
  /// Why it cannot be switched, or is not to be, although it speaks; nothing: it can.
  [[nodiscard]] const std::optional<std::string>& unusable() const { return unusable_; }
  /// From now on it is `unusable`.
  void give_up(std::string why) { unusable_ = std::move(why); }
  /// From the object's making to the first step that was told; nothing before.
  [[nodiscard]] std::optional<double> startup_s() const { return startup_s_; }

  /// From the next step on that all ranks can be told of in time: these knobs, and the program's
  /// own for all others. Returns the number that steps made with them carry.
  std::int64_t switch_to(const KnobValues& knobs);
  /// The same for the rest of the run.
  void leave(const KnobValues& knobs);

 private:
  void read(std::vector<LiveStep>& steps);

  const Clock* clock_;
  LiveChannel channel_;
  UniqueFd process_;
  double attached_s_;
  HookLog log_;
  LiveStep last_{};
  std::optional<double> startup_s_;
  std::optional<std::string> unusable_;
  std::optional<double> told_alive_s_;
  int world_size_ = 1;
  bool said_hello_ = false;
  bool is_gone_ = false;
  std::int64_t switches_ = 0;
};

}  // namespace steptune::live
