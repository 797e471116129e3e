// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/document/key_table.hpp"
#include "common/json.hpp"

namespace steptune::study {

/// Returns the format of study files as a JSON Schema (2020-12), for editors.
[[nodiscard]] Json study_schema();

/// Returns the keys of every object of the format, for the reference. `name` is the definition's
/// name in the schema, or `study` for the file itself.
[[nodiscard]] std::vector<document::KeyTable> key_tables();

/// Returns `text` with the table of NAME between each `<!-- keys of NAME -->` and `<!-- end of keys
/// -->`. Throws std::invalid_argument for a name without a table, and for a table without its end.
[[nodiscard]] std::string with_key_tables(const std::string& text);

}  // namespace steptune::study
