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

/// Seconds of training without a message from the tuner, after which the program continues by
/// itself (`PythonHookRequest::silence_s`). The tuner answers steps within a second, but fitting
/// its model or a slow disk may take a few.
inline constexpr double k_longest_silence_s = 15.0;

/// A program that runs for its own purpose under PyTorch's hook in mode `live`. Its settings can be
/// switched while it runs. This object neither starts nor ends it. If the object is destroyed
/// without `leave`, the program's own settings return. Not thread safe.
class AttachedProgram {
 public:
  /// `process` becomes readable when the program ends (pidfd_open(2)). `clock` outlives the object.
  AttachedProgram(const Clock& clock, LiveChannel channel, UniqueFd process);

  /// Returns new steps, in order. Waits for the first one until the clock reads `until_s` or the
  /// program is gone.
  [[nodiscard]] std::vector<LiveStep> steps(double until_s);

  /// True if it has ended, or if its hook has withdrawn or continues without the tuner. Then no
  /// more switches are possible.
  [[nodiscard]] bool is_gone() const { return is_gone_; }
  /// Waits up to `wait_s`; true if the program itself ends. Its connection closes a moment earlier.
  [[nodiscard]] bool ends_within(double wait_s) const;
  /// Messages of its hook.
  [[nodiscard]] const HookLog& log() const { return log_; }
  /// Says why the program cannot or must not be switched although it is connected; nullopt: it can.
  [[nodiscard]] const std::optional<std::string>& unusable() const { return unusable_; }
  /// Makes the program `unusable` from now on.
  void give_up(std::string why) { unusable_ = std::move(why); }
  /// Returns the time from this object's construction to the first reported step; nullopt before.
  [[nodiscard]] std::optional<double> startup_s() const { return startup_s_; }

  /// Sets these knobs, and the program's own values for all others, from the next step that all
  /// ranks can learn in time. Returns the number of this configuration, which its steps contain.
  std::int64_t switch_to(const KnobValues& knobs);
  /// Like `switch_to`, for the rest of the run.
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
  std::optional<double> last_sign_of_life_s_;
  int world_size_ = 1;
  bool said_hello_ = false;
  bool is_gone_ = false;
  std::int64_t switches_ = 0;
};

}  // namespace steptune::live
