// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Returns the keys of a runner's trials, in order.
template <typename Trials>
[[nodiscard]] std::vector<TrialKey> keys_of(const Trials& trials) {
  std::vector<TrialKey> keys;
  for (const auto& trial : trials)
    keys.push_back(trial.key());
  return keys;
}

/// Checks that all runners make before they start a trial, with the same messages.
class Admission {
 public:
  /// Returns a `conflict` error if a study has already begun.
  [[nodiscard]] Result<void> check_no_study() const;
  /// Admits trials of this study from now on.
  void begin_study(std::string name) { study_ = std::move(name); }

  /// Returns an `internal` error if no study has begun.
  [[nodiscard]] Result<void> check_study() const;

  /// Checks that one more trial may start. `under_way` are the started trials. The error is
  /// `internal` if no study has begun; otherwise `conflict` if `key` is under way; otherwise
  /// `unavailable` if the trials fill all `places`.
  [[nodiscard]] Result<void> check_start(TrialKey key, std::span<const TrialKey> under_way,
                                         int places) const;

  /// Returns the number of places to pass to `check_start`, usually `runner.capacity()`. If the
  /// runner will interleave `spec` with the running trials, returns one more than their number.
  [[nodiscard]] static int places_for(const TrialSpec& spec, std::span<const TrialKey> under_way,
                                      const Runner& runner) {
    const bool joins = spec.interleaved_round > 0 && runner.interleaves();
    return joins ? static_cast<int>(under_way.size()) + 1 : runner.capacity();
  }

 private:
  std::optional<std::string> study_;  ///< name
};

}  // namespace steptune
