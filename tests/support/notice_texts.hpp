// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/notices.hpp"

namespace steptune {

inline std::vector<std::string> texts_of(const std::vector<Notice>& notices) {
  std::vector<std::string> texts;
  for (const Notice& notice : notices)
    texts.push_back(notice.text);
  return texts;
}

}  // namespace steptune
