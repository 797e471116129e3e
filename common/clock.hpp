// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// The tuner's only source of time. Code that measures time or writes time stamps takes a `Clock&`,
/// so the whole tuner also runs with a virtual clock. Separate helper programs read the system's
/// clocks directly.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Seconds since an arbitrary origin, for durations and deadlines. Never goes back, and advances
  /// while the machine sleeps.
  [[nodiscard]] virtual double now_s() const = 0;

  /// Seconds since 1970-01-01 UTC, for display and records only. May jump.
  [[nodiscard]] virtual double wall_time_s() const = 0;
};

/// The system's clocks: CLOCK_BOOTTIME and CLOCK_REALTIME.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] double now_s() const override;
  [[nodiscard]] double wall_time_s() const override;
};

/// A clock that advances only in `advance_to`.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(double wall_start_s = 0.0) : wall_start_s_(wall_start_s) {}

  [[nodiscard]] double now_s() const override { return now_s_; }
  [[nodiscard]] double wall_time_s() const override { return wall_start_s_ + now_s_; }

  /// Moves to `time_s`; a time in the past changes nothing.
  void advance_to(double time_s) {
    if (time_s > now_s_) now_s_ = time_s;
  }

 private:
  double wall_start_s_ = 0.0;
  double now_s_ = 0.0;
};

}  // namespace steptune
