// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/json_record.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune {

template <>
const JsonRecord<SpeedUp>& json_record<SpeedUp>();

/// Null if nothing was measured. The schema refers to the definition `speed_up` of the document.
template <>
struct JsonForm<SpeedUp> {
  static Json write(const SpeedUp& value);
  static bool read(const Json& json, SpeedUp& value) {
    return json_record<SpeedUp>().read(json, value);
  }
  static Json schema() { return {{"$ref", "#/$defs/speed_up"}}; }
};

}  // namespace steptune
