// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/configuration.hpp"
#include "trial_runner/launch/launch.hpp"

namespace steptune {

/// Command, hyperparameters and environment of a job's containers.
struct ContainerStart {
  std::vector<std::string> words;
  std::map<std::string, std::string> hyperparameters{};
  std::map<std::string, std::string> environment{};
};

/// Returns a trial's parameters as text, in the form of SageMaker's hyperparameters.
[[nodiscard]] std::map<std::string, std::string> hyperparameters_of(
    const Configuration& configuration);

/// Shell code that sets up the hook in the container. Afterwards `$steptune_hook` is the hook's
/// folder, and this folder is first in PYTHONPATH.
inline constexpr std::string_view k_enter_hook = "eval \"$STEPTUNE_HOOK\";";

/// Adds the Python hook to a job. The request carries the hook's files as hyperparameters, because
/// its other members are too small. Before the program starts, a shell unpacks the files
/// (unpack_hook.sh) and removes those hyperparameters from the program's. `packed` is the
/// `packed_text` of the files. `argv` is the program's command; if its first word is a Python
/// interpreter, that interpreter unpacks the files. `exported` are variables of any length that the
/// shell exports.
void add_carried_hook(std::string_view packed, const std::vector<std::string>& argv,
                      const std::map<std::string, std::string>& exported, ContainerStart& start);

/// Returns the command that each container runs, and its variables. The command runs `argv`, in the
/// code channel's folder if there is one. If a launch uses several instances, variables pass the
/// instance's number and the address of the first instance to torchrun. If `enters_hook` is true,
/// the command runs `k_enter_hook`. Before the program starts, the command also writes `files`
/// (contents by path). The added words and values respect SageMaker's limits of 256 and 512
/// characters, unless files exceed about 12 KiB. Returns an empty command if `argv` is empty.
[[nodiscard]] ContainerStart entry_point(const std::vector<std::string>& argv, bool in_code_channel,
                                         const std::optional<Launch>& launch,
                                         bool enters_hook = false,
                                         const std::map<std::string, std::string>& files = {});

/// A program that a job runs on each of its instances.
struct ContainerProgram {
  const std::vector<std::string>& argv;
  const std::map<std::string, std::string>& environment;  ///< includes the hook's settings
  const Configuration& configuration;
  const std::optional<Launch>& launch;
  /// File contents by path, written before the program starts.
  const std::map<std::string, std::string>& files;
  bool in_code_channel = false;
  std::optional<std::string_view> hook{};  ///< Python hook (`packed_text`) that the job carries
};

/// Returns command, hyperparameters and environment for `program`. The hyperparameters contain its
/// configuration and the hook. The shell that unpacks the hook also exports the hook's settings,
/// because they may be longer than SageMaker allows.
[[nodiscard]] ContainerStart container_start(const ContainerProgram& program);

}  // namespace steptune
