// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <boost/random/sobol.hpp>

namespace steptune {

/// Points of a Sobol sequence (direction numbers of Joe and Kuo 2008, through Boost) with a random
/// digital shift. The shift keeps the points evenly distributed and gives each seed different
/// points.
class SobolPoints {
 public:
  /// 1 <= dimensions <= 3667.
  SobolPoints(std::size_t dimensions, std::uint64_t seed);

  /// Returns the next point, each coordinate in [0, 1).
  [[nodiscard]] std::vector<double> next();

 private:
  boost::random::sobol engine_;
  std::vector<std::uint64_t> shift_;
  bool started_ = false;
};

}  // namespace steptune
