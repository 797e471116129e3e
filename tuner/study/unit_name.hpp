// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Unit of a study's counter, for people. In code, all such numbers are called samples.
struct UnitName {
  std::string plural = "samples";  ///< `epochs`, `boosting rounds`, `percent`

  [[nodiscard]] std::string singular() const;  ///< `epoch`, `boosting round`, `percent`
  [[nodiscard]] std::string per_second() const { return plural + "/s"; }
};

[[nodiscard]] UnitName unit_name(const StudySpec& study);
/// Reads the unit from a stored study document.
[[nodiscard]] UnitName unit_name(const Json& document);

}  // namespace steptune
