// SPDX-License-Identifier: Apache-2.0
#include "common/system_reason.hpp"

#include <system_error>

namespace steptune {

std::string system_reason(int error) {
  return std::generic_category().message(error);
}

}  // namespace steptune
