// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/local/proc.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// What a token tells: enough to find a trial's processes again, and to know strangers from them.
struct TrialToken {
  ProcessId main;
  std::string boot;  ///< boot_id()
  std::string run_tag;
};
[[nodiscard]] std::string to_text(const TrialToken& token);
[[nodiscard]] Result<TrialToken> parse_token(const std::string& text);

/// Ends what is left of trials that a former program started, SIGTERM first, and waits until it is
/// gone. Tokens that are empty or of another boot stand for nothing. An error names the processes
/// that could not be ended.
[[nodiscard]] Result<void> end_former_trials(std::span<const Runner::Orphan> orphans,
                                             const Clock& clock);

}  // namespace steptune::local
