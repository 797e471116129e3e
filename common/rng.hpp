// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string_view>

namespace steptune {

/// Randomness keyed by (seed, purpose, number): the draws made for trial 7 do not depend on how
/// many were made for trial 6, so a resumed study continues as it would have gone on. Not thread
/// safe; cheap enough to make one per use. The same key gives the same draws on every platform.
class Rng {
 public:
  Rng(std::uint64_t seed, std::string_view purpose, std::uint64_t number = 0);

  /// 64 random bits.
  [[nodiscard]] std::uint64_t bits() { return engine_(); }
  /// Uniform in [0, 1).
  [[nodiscard]] double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// Uniform in {0, ..., count - 1}; `count` > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t count);
  /// Standard normal (Marsaglia's polar method).
  [[nodiscard]] double normal();

 private:
  std::mt19937_64 engine_;
};

}  // namespace steptune
