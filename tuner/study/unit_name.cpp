// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/unit_name.hpp"

#include "common/json_fields.hpp"

namespace steptune {

std::string UnitName::singular() const {
  const bool is_longer = plural.ends_with("ches") || plural.ends_with("sses");
  if (!plural.ends_with('s')) return plural;
  return plural.substr(0, plural.size() - (is_longer ? 2 : 1));
}

UnitName unit_name(const StudySpec& study) {
  return {study.unit};
}

UnitName unit_name(const Json& document) {
  const std::string unit = text_at(document, "unit");
  return unit.empty() ? UnitName() : UnitName{unit};
}

}  // namespace steptune
