// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/environment.hpp"

#include <cstdlib>

namespace steptune {

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

}  // namespace steptune
