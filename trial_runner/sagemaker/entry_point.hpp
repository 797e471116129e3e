// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/launch/launch.hpp"

namespace steptune {

/// What each instance's container starts.
struct EntryPoint {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;  ///< in addition to the trial's
};

/// `argv`, in the code channel's folder if there is one. Where a launch is over several instances,
/// torchrun finds in its variables which of them this is, and that the first one holds the meeting.
/// `enters_hook`: with what `carry_hook` makes of the hook. `files`: texts by path, which a shell
/// writes first. Words and values keep to SageMaker's 256 and 512 characters, but for more than
/// about 12 KiB of files. Empty where `argv` is.
[[nodiscard]] EntryPoint entry_point(const std::vector<std::string>& argv, bool in_code_channel,
                                     const std::optional<Launch>& launch, bool enters_hook = false,
                                     const std::map<std::string, std::string>& files = {});

}  // namespace steptune
