// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "common/json.hpp"

namespace steptune {

/// `text` as it stands in the content of an element or in a quoted attribute: no markup, no control
/// characters but newline and tab, invalid UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string html_escaped(std::string_view text);

/// JSON for a `<script type="application/json">`: `<`, `>` and `&` are escaped within strings, so
/// that neither `</script>` nor `<!--` can occur.
[[nodiscard]] std::string script_json(const Json& json);

}  // namespace steptune
