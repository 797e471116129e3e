// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/configuration.hpp"

namespace steptune {

/// Configurations below each other in one column of a table, each as `configuration_text` writes it
/// as long as the column is wide enough. Where it is not, names of parameters are cut, the longest
/// first, alike in all rows and never so far that a name could be taken for another one's:
/// `batch...=128 workers=4`, with less room `batc.=128 work.=4`. Only where three characters of
/// each are too much are values cut in their middle, in the rows that are still too wide; then
/// names to one character, and at last what is left of a row.
class ConfigurationColumn {
 public:
  /// Of `rows`, the parameters `names`, which are identifiers, in this order.
  ConfigurationColumn(const std::vector<Configuration>& rows, std::vector<std::string> names,
                      std::size_t width);

  /// At most `width` columns; `row` is one of the rows. Inactive parameters are left out.
  [[nodiscard]] std::string text(const Configuration& row) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::string> shown_names_;  ///< as they are shown, in the order of `names_`
  std::size_t width_;
};

}  // namespace steptune
