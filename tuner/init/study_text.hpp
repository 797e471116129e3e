// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/json.hpp"

namespace steptune {

/// The key is a JSON pointer to a value. The text becomes `//` lines before that value.
using StudyComments = std::map<std::string, std::string>;

/// Returns a document as people write it: short values on one line, comments before the value that
/// they describe. Comments have no control characters; `\n` starts another line.
[[nodiscard]] std::string study_text(const Json& document, const StudyComments& comments = {});

}  // namespace steptune
