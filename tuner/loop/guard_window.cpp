// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/guard_window.hpp"

#include <algorithm>
#include <cmath>

#include "common/numbers.hpp"
#include "trial_runner/measure/autocorrelation.hpp"
#include "tuner/loop/guards.hpp"

namespace steptune {
namespace {

/// Largest number of reports in a guard's window: with `after_samples`, and for the latest value.
/// More reports show little more and cost memory.
constexpr std::size_t k_most_reports = 256;
constexpr std::size_t k_latest_reports = 16;
/// End of the window, as a multiple of `Guard::after_samples`. If the window has fewer than
/// `k_least_guard_reports` reports at that point, the trial waits for them, at most until
/// `k_longest_guard_window`: a program that is faster than expected reports less often per sample.
constexpr double k_window_end = 1.25;

/// Returns differences from the least-squares line through equally spaced values.
std::vector<double> residuals_of(const std::vector<double>& values, double mean) {
  const double middle = 0.5 * (static_cast<double>(values.size()) - 1.0);
  double products = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double place = static_cast<double>(i) - middle;
    products += place * (values[i] - mean);
    squares += place * place;
  }
  const double slope = squares > 0.0 ? products / squares : 0.0;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < values.size(); ++i)
    residuals.push_back(values[i] - mean - slope * (static_cast<double>(i) - middle));
  return residuals;
}

}  // namespace

GuardedValue window_value(const std::vector<double>& values, bool of_last) {
  const auto count = static_cast<double>(values.size());
  GuardedValue result;
  if (values.empty()) return result;
  double mean = 0.0;
  for (const double value : values)
    mean += value / count;
  result.value = of_last ? values.back() : mean;
  const double freedom = count - 2.0;  // the line has two parameters
  // The last value's error is the scatter of all values. Estimating it takes more values than the
  // error of a mean.
  if (of_last ? values.size() < k_least_guard_reports : !(freedom > 0.0)) return result;
  const std::vector<double> residuals = residuals_of(values, mean);
  double squares = 0.0;
  for (const double residual : residuals)
    squares += residual * residual;
  result.degrees_of_freedom = freedom;
  const double variance = squares / freedom;
  if (of_last) {
    result.standard_error = std::sqrt(variance);
    return result;
  }
  result.standard_error = std::sqrt(variance / count * autocorrelation_of(residuals).inflation);
  return result;
}

GuardWindows::GuardWindows(std::vector<Guard> guards)
    : guards_(std::move(guards)), windows_(guards_.size()) {}

void GuardWindows::add(const Measurement& current, const Report& report) {
  for (std::size_t i = 0; i < guards_.size(); ++i) {
    const Guard& guard = guards_[i];
    Window& window = windows_[i];
    if (window.full || current.total_samples < guard.after_samples) continue;
    // For a guard over launches, speed matters more than the metric of each launch. So do not
    // continue a launch that reports the metric too seldom.
    if (guard.over_launches &&
        current.total_samples >= k_longest_guard_window * guard.after_samples) {
      window.full = true;
      continue;
    }
    // Skip reports without a new value of this metric.
    const bool has_metric =
        report.metrics.contains(guard.metric) || report.not_finite.contains(guard.metric);
    if (!has_metric || report.repeated.contains(guard.metric)) continue;
    const auto value = current.metrics.find(guard.metric);
    const bool latest = !(guard.after_samples > 0.0);
    if (current.not_finite.contains(guard.metric)) {
      window.not_finite = true;
      window.full = !latest;
      continue;
    }
    if (value == current.metrics.end()) continue;
    if (latest && window.values.size() >= k_latest_reports) {
      window.values.erase(window.values.begin());
    }
    window.not_finite = false;
    window.values.push_back(value->second);
    window.full = !latest && window.values.size() >= k_least_guard_reports &&
                  (current.total_samples >= k_window_end * guard.after_samples ||
                   window.values.size() >= k_most_reports);
  }
}

bool GuardWindows::awaits_samples(double total_samples) const {
  for (std::size_t i = 0; i < guards_.size(); ++i) {
    const Window& window = windows_[i];
    if (!(guards_[i].after_samples > 0.0) || guards_[i].over_launches || window.full) continue;
    const bool comes = !window.values.empty() && window.values.size() < k_least_guard_reports;
    const double end = comes ? k_longest_guard_window : k_window_end;
    if (total_samples < end * guards_[i].after_samples) return true;
  }
  return false;
}

bool GuardWindows::are_full() const {
  for (std::size_t i = 0; i < guards_.size(); ++i) {
    const Window& window = windows_[i];
    const bool latest = !(guards_[i].after_samples > 0.0);
    const bool known = latest ? !window.values.empty() || window.not_finite : window.full;
    if (!is_memory_guard(guards_[i]) && !known) return false;
  }
  return true;
}

GuardedValues GuardWindows::values(bool settled_only) const {
  GuardedValues result;
  for (std::size_t i = 0; i < guards_.size(); ++i) {
    const Window& window = windows_[i];
    // A guard over launches must compare launches over the same samples.
    if ((settled_only || guards_[i].over_launches) && !window.full) continue;
    const std::string name = judged_metric(guards_[i]);
    if (window.not_finite) {
      result[name] = {k_nan};
    } else if (!window.values.empty()) {
      result[name] = window_value(window.values, !(guards_[i].after_samples > 0.0));
    }
  }
  return result;
}

GuardedValues GuardWindows::settled() const {
  return values(/*settled_only=*/true);
}

GuardedValues GuardWindows::all() const {
  return values(/*settled_only=*/false);
}

}  // namespace steptune
