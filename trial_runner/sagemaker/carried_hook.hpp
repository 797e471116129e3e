// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// PyTorch's hook on its way into a job's containers. Its files travel among the hyperparameters,
/// as nothing else of a request holds so much; a shell unpacks them before the program starts
/// (unpack_hook.sh), and the program finds the hyperparameters without them.
struct CarriedHook {
  std::map<std::string, std::string> hyperparameters;
  std::map<std::string, std::string> environment;
};

/// What a shell of the container evaluates to have the hook: then `$steptune_hook` is its folder,
/// which stands in front of PYTHONPATH.
inline constexpr std::string_view k_enter_hook = "eval \"$STEPTUNE_HOOK\";";

/// `packed`: `packed_text` of the hook's files. `argv`: a program that runs there; if that is a
/// Python, it unpacks them. `exported`: variables that the shell exports then, of any length.
[[nodiscard]] CarriedHook carry_hook(std::string_view packed, const std::vector<std::string>& argv,
                                     const std::map<std::string, std::string>& exported);

}  // namespace steptune
