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
  const std::map<std::string, std::string>& environment;  ///< with what the hook is told
  const Configuration& configuration;
  const std::optional<Launch>& launch;
  const std::map<std::string, std::string>& files;  ///< texts by path, there before it starts
  bool in_code_channel = false;
  std::optional<std::string_view> hook{};  ///< PyTorch's (`packed_text`), on its way there
};

/// What the job's containers start, and what they find there.
struct ContainerStart {
  std::vector<std::string> words;
  std::map<std::string, std::string> hyperparameters;
  std::map<std::string, std::string> environment;
};

/// Adds PyTorch's hook (`packed_text`) for the program `argv`; `exported`: variables that a shell
/// in the container sets (`carry_hook`).
void add_carried_hook(std::string_view packed, const std::vector<std::string>& argv,
                      const std::map<std::string, std::string>& exported, ContainerStart& start);

/// The configuration as hyperparameters, the hook among them; its environment, of which a shell in
/// the container sets what is longer than SageMaker takes (`carried_hook.hpp`).
[[nodiscard]] ContainerStart container_start(const ContainerProgram& program);

}  // namespace steptune
