// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/null_studies/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace steptune::null_studies {
namespace {

/// Bursts and idle times of a program that copied memory beside training programs, on two CPUs of a
/// shared virtual machine.
constexpr double k_shortest_burst_s = 1.0;
constexpr double k_longest_burst_s = 6.0;

double draw_burst_s(Rng& rng) {
  return k_shortest_burst_s + (k_longest_burst_s - k_shortest_burst_s) * rng.uniform();
}

}  // namespace

Neighbours::Neighbours(int count, double slowness, std::uint64_t seed) : slowness_(slowness) {
  for (int number = 0; number < count; ++number) {
    Neighbour neighbour{Rng(seed, "neighbour", static_cast<std::uint64_t>(number))};
    neighbour.is_busy = neighbour.rng.below(2) == 1;
    // The study starts in the middle of a burst or an idle time.
    neighbour.changes_s = draw_burst_s(neighbour.rng);
    neighbour.changes_s *= neighbour.rng.uniform();
    neighbours_.push_back(std::move(neighbour));
  }
  stretches_.push_back({0.0, slowness_now()});
}

double Neighbours::slowness_now() const {
  return std::pow(slowness_,
                  static_cast<double>(std::ranges::count(neighbours_, true, &Neighbour::is_busy)));
}

void Neighbours::add_stretch() {
  const auto next = std::ranges::min_element(neighbours_, {}, &Neighbour::changes_s);
  if (next == neighbours_.end()) {
    stretches_.push_back({std::numeric_limits<double>::infinity(), 1.0});
    return;
  }
  const double from_s = next->changes_s;
  next->is_busy = !next->is_busy;
  next->changes_s += draw_burst_s(next->rng);
  stretches_.push_back({from_s, slowness_now()});
}

std::size_t Neighbours::stretch_at(double time_s) {
  while (stretches_.back().from_s <= time_s)
    add_stretch();
  const auto after = std::ranges::upper_bound(stretches_, time_s, {}, &Stretch::from_s);
  return static_cast<std::size_t>(after - stretches_.begin()) - 1;
}

double Neighbours::end_of_stretch(std::size_t index) {
  while (index + 1 >= stretches_.size())
    add_stretch();
  return stretches_[index + 1].from_s;
}

double Neighbours::end_of(double from_s, double work_s) {
  if (!std::isfinite(work_s)) return work_s;
  for (std::size_t index = stretch_at(from_s);; ++index) {
    const double end_s = end_of_stretch(index);
    const double slowness = stretches_[index].slowness;
    const double done_s = (end_s - from_s) / slowness;
    if (work_s <= done_s) return from_s + work_s * slowness;
    work_s -= done_s;
    from_s = end_s;
  }
}

double Neighbours::work_between(double from_s, double to_s) {
  double work_s = 0.0;
  for (std::size_t index = stretch_at(from_s); from_s < to_s; ++index) {
    const double end_s = std::min(to_s, end_of_stretch(index));
    work_s += (end_s - from_s) / stretches_[index].slowness;
    from_s = end_s;
  }
  return work_s;
}

double Neighbours::busy_between(double from_s, double to_s) {
  double busy_s = 0.0;
  for (std::size_t index = stretch_at(from_s); from_s < to_s; ++index) {
    const double end_s = std::min(to_s, end_of_stretch(index));
    if (stretches_[index].slowness > 1.0) busy_s += end_s - from_s;
    from_s = end_s;
  }
  return busy_s;
}

}  // namespace steptune::null_studies
