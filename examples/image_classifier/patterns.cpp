// SPDX-License-Identifier: Apache-2.0
#include "image_classifier/patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace steptune::example {

namespace {

constexpr std::array<std::string_view, k_pattern_count> k_names = {
    "checks", "diagonal", "disc",   "dots",     "horizontal",
    "rays",   "rings",    "square", "vertical", "waves"};

/// Position and shape of a pattern; coordinates are fractions of the image's side.
struct Placement {
  double centre_x;
  double centre_y;
  double frequency;
  double radius;
  double phase;
  double cosine;
  double sine;
};

Placement random_placement(Rng& rng) {
  const double tilt = 0.3 * (rng.uniform() - 0.5);
  return {.centre_x = 0.35 + 0.3 * rng.uniform(),
          .centre_y = 0.35 + 0.3 * rng.uniform(),
          .frequency = 4.0 + 4.0 * rng.uniform(),
          .radius = 0.22 + 0.12 * rng.uniform(),
          .phase = rng.uniform(),
          .cosine = std::cos(tilt),
          .sine = std::sin(tilt)};
}

double wave(double cycles) {
  return std::sin(2.0 * std::numbers::pi * cycles);
}
/// Returns 0 to 1 with a soft edge around 0, as in a photograph.
double soft(double value) {
  return std::clamp(0.5 + 2.0 * value, 0.0, 1.0);
}

/// Returns the share of the foreground colour at a point, 0 to 1.
double coverage(int pattern, double x, double y, const Placement& place) {
  const double dx = x - place.centre_x;
  const double dy = y - place.centre_y;
  const double u = place.cosine * dx - place.sine * dy;
  const double v = place.sine * dx + place.cosine * dy;
  const double along_u = place.frequency * u + place.phase;
  const double along_v = place.frequency * v + place.phase;
  constexpr double k_edge = 20.0;
  switch (pattern) {
    case 0:
      return soft(2.0 * wave(along_u) * wave(along_v));
    case 1:
      return soft(wave(along_u + place.frequency * v));
    case 2:
      return soft(k_edge * (place.radius - std::hypot(u, v)));
    case 3:
      return soft(2.0 * (wave(along_u) + wave(along_v) - 1.0));
    case 4:
      return soft(wave(along_v));
    case 5:
      return soft(wave(std::floor(place.frequency) * std::atan2(v, u) / (2.0 * std::numbers::pi)));
    case 6:
      return soft(wave(place.frequency * std::hypot(u, v) + place.phase));
    case 7:
      return soft(k_edge * (place.radius - std::max(std::abs(u), std::abs(v))));
    case 8:
      return soft(wave(along_u));
    default:
      return soft(wave(along_v + 0.25 * wave(0.5 * along_u)));
  }
}

using Colour = std::array<double, 3>;

Colour random_colour(Rng& rng) {
  return {255.0 * rng.uniform(), 255.0 * rng.uniform(), 255.0 * rng.uniform()};
}

/// Returns a random colour that clearly differs from `other`.
Colour contrasting_colour(const Colour& other, Rng& rng) {
  constexpr double k_least_distance = 120.0;
  for (;;) {
    const Colour colour = random_colour(rng);
    const double distance =
        std::hypot(colour[0] - other[0], colour[1] - other[1], colour[2] - other[2]);
    if (distance >= k_least_distance) return colour;
  }
}

}  // namespace

std::string_view pattern_name(int pattern) {
  return k_names.at(static_cast<std::size_t>(pattern));
}

Image draw_pattern(int pattern, int side_px, Rng& rng) {
  constexpr double k_noise = 20.0;
  const Placement place = random_placement(rng);
  const Colour background = random_colour(rng);
  const Colour foreground = contrasting_colour(background, rng);
  const double light_x = 0.8 * (rng.uniform() - 0.5);
  const double light_y = 0.8 * (rng.uniform() - 0.5);

  Image image{.width = side_px, .height = side_px, .pixels = {}};
  image.pixels.reserve(image.stride() * static_cast<std::size_t>(side_px));
  for (int row = 0; row < side_px; ++row) {
    const double y = (row + 0.5) / side_px;
    for (int column = 0; column < side_px; ++column) {
      const double x = (column + 0.5) / side_px;
      const double share = coverage(pattern, x, y, place);
      const double light = 1.0 + light_x * (x - 0.5) + light_y * (y - 0.5);
      const double noise = k_noise * (rng.uniform() - 0.5);
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const double value = std::lerp(background[channel], foreground[channel], share);
        image.pixels.push_back(
            static_cast<std::uint8_t>(std::clamp(light * value + noise, 0.0, 255.0)));
      }
    }
  }
  return image;
}

}  // namespace steptune::example
