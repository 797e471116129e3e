// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/json.hpp"

namespace steptune {

/// Comments by JSON pointer to a value. `study_text` writes them as `//` lines before that value.
using StudyComments = std::map<std::string, std::string>;

/// Formats a document for people: short values on one line, and comments. Replaces control
/// characters in comments; `\n` starts another line.
[[nodiscard]] std::string study_text(const Json& document, const StudyComments& comments = {});

}  // namespace steptune
