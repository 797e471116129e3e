// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string_view>

namespace steptune {

/// Random numbers keyed by (seed, purpose, number). The draws for one trial do not depend on the
/// draws for other trials. So a resumed study continues as if it had not stopped. The same key
/// gives the same draws on every platform, except for the last digits of `normal`. Not thread-safe;
/// cheap enough to make one for each use.
class Rng {
 public:
  Rng(std::uint64_t seed, std::string_view purpose, std::uint64_t number = 0);

  /// Returns 64 random bits.
  [[nodiscard]] std::uint64_t bits() { return engine_(); }
  /// Draws uniformly from [0, 1).
  [[nodiscard]] double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// Draws uniformly from {0, ..., count - 1}; `count` > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t count);
  /// Draws from the standard normal distribution (Marsaglia's polar method).
  [[nodiscard]] double normal();

 private:
  std::mt19937_64 engine_;
};

}  // namespace steptune
