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

/// If the program trains for this many seconds without a message from the tuner, it continues
/// without the tuner (`PythonHookRequest::silence_s`). The tuner usually answers a step within a
/// second; fitting its model or a slow disk may take a few seconds.
inline constexpr double k_longest_silence_s = 15.0;

/// A long run of a user's program under the Python hook in mode `live`. The tuner can switch the
/// program's settings while it runs. This object neither starts nor ends the program. If the object
/// is destroyed without `leave`, the program returns to its own settings. Not thread safe.
class AttachedProgram {
 public:
  /// `process` becomes readable when the program ends (pidfd_open(2)). `clock` outlives the object.
  AttachedProgram(const Clock& clock, LiveChannel channel, UniqueFd process);

  /// Returns new steps, in order. If there is none yet, waits for a step until the clock reads
  /// `until_s`, or until the program is gone or unusable.
  [[nodiscard]] std::vector<LiveStep> steps(double until_s);

  /// True if the program has ended, or if its hook has withdrawn or continues without the tuner. No
  /// more switches are then possible.
  [[nodiscard]] bool is_gone() const { return is_gone_; }
  /// Waits up to `wait_s` for the program's end; true if the program has ended. Useful after
  /// `is_gone`, because the connection closes a moment before the program ends.
  [[nodiscard]] bool ends_within(double wait_s) const;
  /// Messages of the program's hook.
  [[nodiscard]] const HookLog& log() const { return log_; }
  /// Says why the connected program cannot or must not be switched; nullopt if it can be.
  [[nodiscard]] const std::optional<std::string>& unusable() const { return unusable_; }
  /// Makes the program `unusable` from now on.
  void give_up(std::string why) { unusable_ = std::move(why); }
  /// Returns the time from this object's construction to the first reported step; nullopt before.
  [[nodiscard]] std::optional<double> startup_s() const { return startup_s_; }

  /// Switches to these knob values; all other knobs get the program's own values. The switch
  /// happens at the next step of which all ranks can be informed in time. Returns the number of
  /// this configuration (`LiveStep::configuration`).
  std::int64_t switch_to(const KnobValues& knobs);
  /// Like `switch_to`, but for the rest of the run: the program then continues without the tuner.
  void leave(const KnobValues& knobs);

 private:
  void read(std::vector<LiveStep>& steps);

  const Clock* clock_;
  LiveChannel channel_;
  UniqueFd process_;
  double attached_s_;
  HookLog log_;
  LiveStep last_{};
  LiveStep recent_{};
  LiveStep earlier_{};  ///< a short time before `recent_`
  std::optional<double> startup_s_;
  std::optional<std::string> unusable_;
  std::optional<double> last_sign_of_life_s_;
  int world_size_ = 1;
  bool said_hello_ = false;
  bool is_gone_ = false;
  std::int64_t switches_ = 0;
};

}  // namespace steptune::live
