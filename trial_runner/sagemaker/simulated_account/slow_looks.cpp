// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/slow_looks.hpp"

namespace steptune::simulated {
namespace {

/// Smallest number of reports in a window.
constexpr int k_least_reports = 4;

}  // namespace

bool SlowLooks::report(double clock_s, double samples) {
  if (!first_s_) first_s_ = clock_s;
  if (clock_s < *first_s_ + limit_.after_s) return false;
  if (!look_) {
    look_ = Look{clock_s, samples};
    return false;
  }
  if (++look_->reports < k_least_reports || clock_s < look_->clock_s + limit_.window_s)
    return false;
  const double allowed_s = limit_.seconds_per_sample * (samples - look_->samples);
  slow_looks_ = clock_s - look_->clock_s > allowed_s ? slow_looks_ + 1 : 0;
  look_ = Look{clock_s, samples};
  return slow_looks_ == 2;  // a single slow window may be chance
}

void SlowLooks::phase() {
  look_.reset();
  slow_looks_ = 0;
}

}  // namespace steptune::simulated
