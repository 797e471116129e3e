// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/environment.hpp"

#include <cstdlib>

namespace steptune::aws {

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

std::filesystem::path home_folder(const Environment& environment) {
  return environment("HOME").value_or("");
}

}  // namespace steptune::aws
