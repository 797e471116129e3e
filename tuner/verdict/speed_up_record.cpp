// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/speed_up_record.hpp"

#include <cmath>

namespace steptune {

template <>
const JsonRecord<SpeedUp>& json_record<SpeedUp>() {
  static const auto record =
      JsonRecord<SpeedUp>()
          .field("ratio", &SpeedUp::ratio, "Ratio of fresh runs; null: not measured")
          .field("low_95", &SpeedUp::low)
          .field("high_95", &SpeedUp::high)
          .field("low_95_if_buffered", &SpeedUp::low_if_buffered,
                 "low_95 if a buffer was full at the start and hides as much time as it can")
          .field("repeat_low_95", &SpeedUp::repeat_low,
                 "95 % prediction interval of another confirmation's ratio, with repeat_high_95: "
                 "see docs/algorithms/confirming.md")
          .field("repeat_high_95", &SpeedUp::repeat_high)
          .field("standard_error", &SpeedUp::standard_error,
                 "Standard error of the ratio's logarithm, as if there were only this look")
          .field("pairs", &SpeedUp::pairs, "Pairs of fresh runs; 0: search trials only")
          .field("more_pairs", &SpeedUp::more_pairs,
                 "Further pairs that would probably decide; null: decided, or not known");
  return record;
}

Json JsonForm<SpeedUp>::write(const SpeedUp& value) {
  if (!std::isfinite(value.ratio) && value.pairs == 0) return nullptr;
  return json_record<SpeedUp>().write(value);
}

}  // namespace steptune
