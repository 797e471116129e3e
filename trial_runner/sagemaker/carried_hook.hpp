// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// The Python hook as part of a job request. Its files are sent as hyperparameters, because no
/// other part of a request is large enough. Before the program starts, a shell unpacks them
/// (unpack_hook.sh) and removes them from the hyperparameters that the program sees.
struct CarriedHook {
  std::map<std::string, std::string> hyperparameters;
  std::map<std::string, std::string> environment;
};

/// Shell code that sets up the hook in the container. Afterwards `$steptune_hook` is the hook's
/// folder, and this folder is first in PYTHONPATH.
inline constexpr std::string_view k_enter_hook = "eval \"$STEPTUNE_HOOK\";";

/// Returns the hook's part of a request. `packed` is the `packed_text` of the hook's files. `argv`
/// is the command of the program; if its first word is a Python interpreter, that interpreter
/// unpacks the files. `exported` are variables of any length that the shell exports.
[[nodiscard]] CarriedHook carry_hook(std::string_view packed, const std::vector<std::string>& argv,
                                     const std::map<std::string, std::string>& exported);

}  // namespace steptune
