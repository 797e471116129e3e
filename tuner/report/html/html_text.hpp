// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "common/json.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {

/// Escapes `text` for an element's content or a quoted attribute. The result has no markup and no
/// control characters except newline and tab. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string html_escaped(std::string_view text);

/// Returns a table that scrolls if there is too little room. `attributes` has the attributes of the
/// element `table`, `head` the HTML of the head's cells, `body` the HTML of the rows.
[[nodiscard]] std::string html_table(const std::string& attributes, const std::string& head,
                                     const std::string& body);
/// Returns a text table as HTML. The first cell of a row is its title.
[[nodiscard]] std::string html_table(const TextTable& table);
[[nodiscard]] std::string html_head_cell(const std::string& title, bool is_number = false);
[[nodiscard]] std::string html_cell(const std::string& text, bool is_number = false);

/// Returns JSON for a `<script type="application/json">`. Escapes `<`, `>` and `&` within strings,
/// so that neither `</script>` nor `<!--` can occur.
[[nodiscard]] std::string script_json(const Json& json);

}  // namespace steptune
