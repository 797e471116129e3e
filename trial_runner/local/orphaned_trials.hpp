// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/machine/processes.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Content of a trial's token, which the history stores. By the token, a later run of the tuner
/// finds and recognises the trial's processes.
struct TrialToken {
  ProcessId main;
  std::string boot;  ///< boot_id()
  std::string run_tag;
};
[[nodiscard]] std::string to_text(const TrialToken& token);
/// Returns a `store` error if the text is not a token.
[[nodiscard]] Result<TrialToken> parse_token(const std::string& text);

/// Ends the processes of trials that an earlier run of the tuner left behind, SIGTERM first, and
/// waits until they are gone. Skips empty tokens and tokens of another boot. An error names the
/// processes that could not be ended.
[[nodiscard]] Result<void> end_orphaned_trials(std::span<const Runner::Orphan> orphans,
                                               const Clock& clock);

}  // namespace steptune::local
