// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/disturbed_spans.hpp"

#include <algorithm>

namespace steptune {
namespace {

constexpr std::size_t k_max_spans = 512;
constexpr double k_least_gap_s = 1.0;

}  // namespace

void DisturbedSpans::add(double from_s, double to_s) {
  if (!(to_s > from_s)) return;
  // CPUs and GPUs are looked at in turn: a span may begin before the end of the latest.
  while (!spans_.empty() && from_s <= spans_.back().to_s + joined_s_) {
    if (to_s + joined_s_ < spans_.back().from_s) break;
    from_s = std::min(from_s, spans_.back().from_s);
    to_s = std::max(to_s, spans_.back().to_s);
    spans_.pop_back();
  }
  const auto place = std::ranges::upper_bound(spans_, from_s, {}, &Span::from_s);
  spans_.insert(place, {from_s, to_s});
  if (spans_.size() > k_max_spans) thin();
}

void DisturbedSpans::thin() {
  while (spans_.size() > k_max_spans / 2) {
    joined_s_ = std::max(k_least_gap_s, 2.0 * joined_s_);
    std::vector<Span> joined;
    for (const Span& span : spans_) {
      if (!joined.empty() && span.from_s <= joined.back().to_s + joined_s_) {
        joined.back().to_s = std::max(joined.back().to_s, span.to_s);
      } else {
        joined.push_back(span);
      }
    }
    spans_ = std::move(joined);
  }
}

bool DisturbedSpans::overlap(double from_s, double to_s) const {
  const auto next = std::ranges::upper_bound(spans_, from_s, {}, &Span::to_s);
  return next != spans_.end() && next->from_s < to_s;
}

}  // namespace steptune
