// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/header_text.hpp"

namespace steptune::aws {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace steptune::aws
