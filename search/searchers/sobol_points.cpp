// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/sobol_points.hpp"

#include "common/rng.hpp"

namespace steptune {

SobolPoints::SobolPoints(std::size_t dimensions, std::uint64_t seed) : engine_(dimensions) {
  Rng rng(seed, "sobol shift");
  for (std::size_t i = 0; i < dimensions; ++i)
    shift_.push_back(rng.bits());
}

std::vector<double> SobolPoints::next() {
  std::vector<double> point;
  point.reserve(shift_.size());
  for (const std::uint64_t shift : shift_) {
    // Boost omits the sequence's first point, the origin. Without the origin, the first 2^m points
    // are not evenly distributed (no digital net).
    const std::uint64_t coordinate = started_ ? engine_() : 0;
    point.push_back(static_cast<double>((coordinate ^ shift) >> 11) * 0x1p-53);
  }
  started_ = true;
  return point;
}

}  // namespace steptune
