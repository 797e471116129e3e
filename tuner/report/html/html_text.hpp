// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "common/json.hpp"

namespace steptune {

/// `text` as it stands in the content of an element or in a quoted attribute: no markup, no control
/// characters but newline and tab, invalid UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string html_escaped(std::string_view text);

/// A table that scrolls where there is no room for it: `attributes` of the element, cells of the
/// head, rows of the body.
[[nodiscard]] std::string html_table(const std::string& attributes, const std::string& head,
                                     const std::string& body);
[[nodiscard]] std::string html_head_cell(const std::string& title, bool is_number = false);
[[nodiscard]] std::string html_cell(const std::string& text, bool is_number = false);

/// JSON for a `<script type="application/json">`: `<`, `>` and `&` are escaped within strings, so
/// that neither `</script>` nor `<!--` can occur.
[[nodiscard]] std::string script_json(const Json& json);

}  // namespace steptune
