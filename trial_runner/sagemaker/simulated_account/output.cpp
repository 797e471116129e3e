// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/output.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace steptune::simulated {

SimulatedOutput::SimulatedOutput(const SimulatedProgram& program, bool reports, double start_s,
                                 Rng rng)
    : program_(program),
      start_s_(start_s),
      rng_(std::move(rng)),
      step_times_(program.noise, rng_),
      next_s_(start_s + program.startup_s),
      times_s_{start_s} {
  if (!reports || program.step_s <= 0.0) return;
  steps_per_line_ = std::max(1.0, std::round(1.0 / program.step_s));
  next_s_ += program_.step_s * step_times_.take(steps_per_line_, rng_);
}

void SimulatedOutput::end(double time_s, std::string last_words) {
  end_s_ = time_s;
  last_words_ = std::move(last_words);
}

void SimulatedOutput::produce_until(double time_s) {
  const double until_s = std::min(time_s, end_s_.value_or(time_s));
  while (steps_per_line_ > 0.0 && next_s_ <= until_s) {
    times_s_.push_back(next_s_);
    next_s_ += program_.step_s * step_times_.take(steps_per_line_, rng_);
  }
  if (end_s_ && *end_s_ <= time_s && !last_words_.empty() && !last_words_spoken_) {
    times_s_.push_back(*end_s_);
    last_words_spoken_ = true;
  }
}

std::string SimulatedOutput::text(std::size_t index) const {
  if (index == 0) return program_.first_line;
  if (last_words_spoken_ && index + 1 == times_s_.size()) return last_words_;
  return report(index);
}

std::string SimulatedOutput::report(std::size_t index) const {
  const double steps = static_cast<double>(index) * steps_per_line_;
  std::string line = fmt::format("[steptune] {{\"v\":1,\"step\":{:.0f},\"samples\":{:.12g}", steps,
                                 steps * program_.samples_per_step);
  fmt::format_to(std::back_inserter(line), ",\"clock\":{:.6f}", times_s_[index] - start_s_);
  Json not_finite = Json::array();
  for (const auto& [name, value] : program_.metrics) {
    if (std::isfinite(value)) {
      fmt::format_to(std::back_inserter(line), ",{}:{:.9g}", Json(name).dump(), value);
    } else {
      not_finite.push_back(name);
    }
  }
  if (!not_finite.empty()) {
    fmt::format_to(std::back_inserter(line), ",\"not_finite\":{}", not_finite.dump());
  }
  line += '}';
  return line;
}

}  // namespace steptune::simulated
