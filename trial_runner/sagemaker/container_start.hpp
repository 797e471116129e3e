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

/// A program that a job runs on each of its instances.
struct ContainerProgram {
  const std::vector<std::string>& argv;
  const std::map<std::string, std::string>& environment;  ///< includes the hook's settings
  const Configuration& configuration;
  const std::optional<Launch>& launch;
  /// File contents by path, written before the program starts.
  const std::map<std::string, std::string>& files;
  bool in_code_channel = false;
  std::optional<std::string_view> hook{};  ///< Python hook (`packed_text`) to send along
};

/// Command, hyperparameters and environment of a job's containers.
struct ContainerStart {
  std::vector<std::string> words;
  std::map<std::string, std::string> hyperparameters;
  std::map<std::string, std::string> environment;
};

/// Adds the Python hook (`packed_text`) for the program `argv`. `exported` are variables that a
/// shell in the container sets (`carry_hook`).
void add_carried_hook(std::string_view packed, const std::vector<std::string>& argv,
                      const std::map<std::string, std::string>& exported, ContainerStart& start);

/// Returns command, hyperparameters and environment for `program`. The hyperparameters contain its
/// configuration and the hook. The shell that unpacks the hook also sets the hook's settings, which
/// may be longer than SageMaker allows (`carried_hook.hpp`).
[[nodiscard]] ContainerStart container_start(const ContainerProgram& program);

}  // namespace steptune
