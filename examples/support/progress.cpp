// SPDX-License-Identifier: Apache-2.0
#include "support/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/core.h>

namespace steptune::example {

namespace {

constexpr double k_line_interval_s = 2.0;
constexpr double k_least_duration_s = 1e-9;

}  // namespace

Progress::Progress(std::string unit, double now_s) : unit_(std::move(unit)), begin_s_(now_s) {
  interval_.begin_s = now_s;
}

void Progress::step(double samples, double loss, double waited_s, double now_s) {
  ++steps_;
  samples_ += samples;
  ++interval_.steps;
  interval_.samples += samples;
  interval_.loss_sum += loss;
  interval_.waited_s += waited_s;
  if (steps_ == 1 || now_s - interval_.begin_s >= k_line_interval_s) print_line(now_s);
}

void Progress::print_line(double now_s) {
  const double duration_s = std::max(now_s - interval_.begin_s, k_least_duration_s);
  fmt::print("step {:6}  {:10.0f} {}  loss {:7.4f}  {:8.1f} {}/s  waiting for data {:3.0f} %\n",
             steps_, samples_, unit_, interval_.loss_sum / static_cast<double>(interval_.steps),
             interval_.samples / duration_s, unit_, 100.0 * interval_.waited_s / duration_s);
  std::fflush(stdout);
  interval_ = Interval{};
  interval_.begin_s = now_s;
}

void Progress::finish(double now_s) {
  if (interval_.steps > 0) print_line(now_s);
  const double duration_s = std::max(now_s - begin_s_, k_least_duration_s);
  fmt::print("trained {} steps, {:.0f} {} in {:.1f} s: {:.1f} {}/s\n", steps_, samples_, unit_,
             duration_s, samples_ / duration_s, unit_);
  std::fflush(stdout);
}

}  // namespace steptune::example
