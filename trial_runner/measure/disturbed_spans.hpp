// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace steptune {

/// When others took much of the machine while a trial ran, on the clock of the receipts. Bounded
/// memory: of more than 512 spans those next to each other become one, with what lies between them.
class DisturbedSpans {
 public:
  void add(double from_s, double to_s);
  [[nodiscard]] bool overlap(double from_s, double to_s) const;
  [[nodiscard]] bool empty() const { return spans_.empty(); }

 private:
  struct Span {
    double from_s = 0.0;
    double to_s = 0.0;
  };
  void thin();

  std::vector<Span> spans_;  ///< in order, apart from each other
  double joined_s_ = 0.0;    ///< gaps of up to so many seconds are not kept
};

}  // namespace steptune
