// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "tuner/report/text_table.hpp"

namespace steptune {

/// Returns the width to which a column's texts are cut, so that the table fits into `width` columns
/// of the terminal. Names stay recognizable with 12 columns, even if the table is then too wide.
/// `emptied`: the table with empty texts in the column called `title`.
[[nodiscard]] inline std::size_t cut_width(std::size_t width, const TextTable& emptied,
                                           std::string_view title) {
  const std::size_t beside = emptied.width() - title.size();
  return std::max(std::size_t{12}, width > beside ? width - beside : 0);
}

}  // namespace steptune
