// SPDX-License-Identifier: Apache-2.0
#include "common/rng.hpp"

#include <cmath>

namespace steptune {
namespace {

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char character : text) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3ULL;
  }
  return hash;
}

std::mt19937_64 keyed_engine(std::uint64_t seed, std::uint64_t purpose, std::uint64_t number) {
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  std::seed_seq sequence{low(seed),     high(seed),  low(purpose),
                         high(purpose), low(number), high(number)};
  return std::mt19937_64(sequence);
}

}  // namespace

Rng::Rng(std::uint64_t seed, std::string_view purpose, std::uint64_t number)
    : engine_(keyed_engine(seed, fnv1a(purpose), number)) {}

std::uint64_t Rng::below(std::uint64_t count) {
  // Rejecting the largest draws makes every outcome equally likely. std::uniform_int_distribution
  // is not used because its results differ between libraries.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % count;
  std::uint64_t draw = engine_();
  while (draw >= limit)
    draw = engine_();
  return draw % count;
}

double Rng::normal() {
  for (;;) {
    const double x = 2.0 * uniform() - 1.0;
    const double y = 2.0 * uniform() - 1.0;
    const double square = x * x + y * y;
    if (square > 0.0 && square < 1.0) return x * std::sqrt(-2.0 * std::log(square) / square);
  }
}

}  // namespace steptune
