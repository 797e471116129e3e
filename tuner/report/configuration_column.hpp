// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/configuration.hpp"

namespace steptune {

/// One column of a table with a configuration in each row. If the column is wide enough, each row
/// is its `configuration_text`. Otherwise parameter names are cut, the longest first, and in the
/// same way in all rows. Each name stays distinct: `batch...=128 workers=4`, with less room
/// `batc.=128 work.=4`. If rows are too wide even with three characters of each name, their values
/// are cut in the middle. After that, names are cut down to one character. Finally the row itself
/// is cut.
class ConfigurationColumn {
 public:
  /// `names` are the parameters of `rows`. They must be identifiers, and are shown in this order.
  ConfigurationColumn(const std::vector<Configuration>& rows, std::vector<std::string> names,
                      std::size_t width);

  /// Returns at most `width` columns. `row` must be one of the rows. Inactive parameters are left
  /// out.
  [[nodiscard]] std::string text(const Configuration& row) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::string> shown_names_;  ///< names as shown, in the order of `names_`
  std::size_t width_;
};

}  // namespace steptune
