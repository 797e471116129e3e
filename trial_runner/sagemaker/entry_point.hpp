// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/launch/launch.hpp"

namespace steptune {

/// Command that each instance's container starts.
struct EntryPoint {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;  ///< added to the trial's environment
};

/// Returns a command that runs `argv`, in the code channel's folder if there is one. If a launch
/// uses several instances, variables give torchrun the instance's number and, as rendezvous, the
/// address of the first instance. If `enters_hook` is true, the command sets up the hook of
/// `carry_hook`. A shell first writes `files` (contents by path). The added words and values
/// respect SageMaker's limits of 256 and 512 characters, unless files exceed about 12 KiB. Returns
/// an empty command if `argv` is empty.
[[nodiscard]] EntryPoint entry_point(const std::vector<std::string>& argv, bool in_code_channel,
                                     const std::optional<Launch>& launch, bool enters_hook = false,
                                     const std::map<std::string, std::string>& files = {});

}  // namespace steptune
