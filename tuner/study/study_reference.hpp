// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/document/key_table.hpp"
#include "common/json.hpp"

namespace steptune::study {

/// The format of study files as a JSON Schema (2020-12), for editors.
[[nodiscard]] Json study_schema();

/// The keys of every object of the format, as the reference lists them; `name` is the definition's
/// in the schema, `study` for the file itself.
[[nodiscard]] std::vector<document::KeyTable> key_tables();

/// `text` with what stands between each `<!-- keys of NAME -->` and `<!-- end of keys -->` replaced
/// by the table of that name. Throws std::invalid_argument for a name that has no table, and for a
/// table without its end.
[[nodiscard]] std::string with_key_tables(const std::string& text);

}  // namespace steptune::study
