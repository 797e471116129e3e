// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/buffer_bound.hpp"

namespace steptune {
namespace {

/// A confirming run continues until a buffer can explain no more than this share of its gain.
constexpr double k_hidden_share = 1.0 / 3.0;

}  // namespace

bool may_hide_gain(const Measurement& run, double baseline_seconds_per_sample, double precision) {
  const double upper = run.seconds_per_sample + run.half_width_s;
  const double gain = baseline_seconds_per_sample / run.seconds_per_sample - 1.0;
  return gain > precision && run.slowest_seconds_per_sample > (1.0 + k_hidden_share * gain) * upper;
}

}  // namespace steptune
