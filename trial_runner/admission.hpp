// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// What `Runner` promises to refuse, refused by all runners in the same way and words.
class Admission {
 public:
  /// `conflict` if a study has begun already.
  [[nodiscard]] Result<void> check_no_study() const;
  /// From now on trials of this study are admitted.
  void begin_study(std::string name) { study_ = std::move(name); }

  /// `internal` before a study has begun.
  [[nodiscard]] Result<void> check_study() const;

  /// Whether one more trial may be started beside those under way, in this order: `internal` before
  /// a study has begun, `conflict` if `key` is among them, `unavailable` if they fill all `places`.
  [[nodiscard]] Result<void> check_start(TrialKey key, std::span<const TrialKey> under_way,
                                         int places) const;

  /// Places that `spec` may take one of: `runner.capacity()`, or one more than are taken if the
  /// trial is interleaved.
  [[nodiscard]] static int places_for(const TrialSpec& spec, std::span<const TrialKey> under_way,
                                      const Runner& runner) {
    const bool joins = spec.interleaved_round > 0 && runner.interleaves();
    return joins ? static_cast<int>(under_way.size()) + 1 : runner.capacity();
  }

 private:
  std::optional<std::string> study_;  ///< name
};

}  // namespace steptune
