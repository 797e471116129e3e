// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/json.hpp"

namespace steptune {

/// JSON pointer -> what is said in `//` lines in front of the value.
using StudyComments = std::map<std::string, std::string>;

/// A document as people write it: what is short stands on one line, comments stand in front of what
/// they speak of. Comments hold no control characters; `\n` begins another line.
[[nodiscard]] std::string study_text(const Json& document, const StudyComments& comments = {});

}  // namespace steptune
