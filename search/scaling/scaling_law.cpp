// SPDX-License-Identifier: Apache-2.0
#include "search/scaling/scaling_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/tools/minima.hpp>
#include <boost/math/tools/precision.hpp>

#include "common/numbers.hpp"

namespace steptune {
namespace {

constexpr std::array k_laws = {ScalingLaw::amdahl, ScalingLaw::amdahl_linear,
                               ScalingLaw::amdahl_log, ScalingLaw::gustafson,
                               ScalingLaw::gustafson_log};

/// Returns the terms of the law for n machines. Only the laws with messages along a tree use
/// `log2_n`.
TimeParts relative_time(ScalingLaw law, double s, double c, double n, double log2_n) {
  switch (law) {
    case ScalingLaw::amdahl:
      return {s, (1.0 - s) / n, 0.0};
    case ScalingLaw::amdahl_linear:
      return {s, (1.0 - s) / n, c * (n - 1.0)};
    case ScalingLaw::amdahl_log:
      return {s, (1.0 - s) / n, c * log2_n};
    case ScalingLaw::gustafson:
    case ScalingLaw::gustafson_log:
      break;
  }
  // Gustafson's s is the serial share of the time at n machines, without messages.
  const double whole = 1.0 / (n - s * (n - 1.0));
  const double messages = law == ScalingLaw::gustafson_log ? c * log2_n : 0.0;
  return {s * whole, (1.0 - s) * whole, messages * whole};
}

double log2_for(ScalingLaw law, double count) {
  const bool is_tree = law == ScalingLaw::amdahl_log || law == ScalingLaw::gustafson_log;
  return is_tree ? std::log2(count) : 0.0;
}

/// A point with its logarithms computed once, because a fit reads each point about a thousand
/// times.
struct WeighedPoint {
  double count = 0.0;
  double log2_count = 0.0;
  double log_time = 0.0;
  double weight = 0.0;
};

std::vector<WeighedPoint> weighed(std::span<const ScalingPoint> points) {
  std::vector<WeighedPoint> result;
  for (const ScalingPoint& point : points) {
    result.push_back({point.count, std::log2(point.count), std::log(point.time_s),
                      1.0 / (point.relative_error * point.relative_error)});
  }
  return result;
}

/// Best fit for fixed s and c. The only fitted value is the logarithm of the time on one machine, a
/// weighted mean.
struct Residuals {
  double chi_squared = 0.0;
  double log_one_s = 0.0;
};

Residuals residuals(ScalingLaw law, double s, double c, std::span<const WeighedPoint> points) {
  double weights = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  for (const WeighedPoint& point : points) {
    const TimeParts time = relative_time(law, s, c, point.count, point.log2_count);
    const double log_ratio = point.log_time - std::log(time.total());
    weights += point.weight;
    sum += point.weight * log_ratio;
    squares += point.weight * log_ratio * log_ratio;
  }
  const double mean = sum / weights;
  return {std::max(0.0, squares - weights * mean * mean), mean};
}

/// Returns `intervals` + 1 numbers from `low` to `high`.
std::vector<double> evenly_spaced(double low, double high, int intervals) {
  std::vector<double> numbers;
  for (int i = 0; i <= intervals; ++i)
    numbers.push_back(low + (high - low) * i / intervals);
  return numbers;
}

/// Returns the place and the value of the function's minimum, to single precision.
template <typename Function>
std::pair<double, double> minimum_of(const Function& function, double low, double high) {
  return boost::math::tools::brent_find_minima(function, low, high,
                                               std::numeric_limits<float>::digits);
}

/// Best communication cost for a fixed serial share. The search uses sqrt(c), to resolve small
/// costs.
struct Communication {
  double root = 0.0;
  Residuals at;
};

/// Chi-squared of a law as a function of sqrt(s) and sqrt(c).
class LeastSquares {
 public:
  LeastSquares(ScalingLaw law, std::span<const ScalingPoint> points)
      : law_(law), points_(weighed(points)) {}

  [[nodiscard]] Residuals at(double root_s, double root_c) const {
    return residuals(law_, root_s * root_s, root_c * root_c, points_);
  }
  [[nodiscard]] Communication best_communication(double root_s) const {
    const Communication none{0.0, at(root_s, 0.0)};
    if (!communicates(law_)) return none;
    const auto [root, least] = inner_minimum(root_s);
    return none.at.chi_squared <= least ? none : Communication{root, at(root_s, root)};
  }
  /// Returns the square root of the serial share with the least chi-squared.
  [[nodiscard]] double best_root_s() const {
    const auto profile = [&](double s) {
      const double none = at(s, 0.0).chi_squared;
      return communicates(law_) ? std::min(none, inner_minimum(s).second) : none;
    };
    const std::vector<double> roots = evenly_spaced(0.0, 1.0, 50);
    std::vector<double> values;
    for (const double root : roots)
      values.push_back(profile(root));
    const auto least = std::ranges::min_element(values);
    const auto best = static_cast<std::size_t>(least - values.begin());
    const double low = roots[best == 0 ? 0 : best - 1];
    const double high = roots[std::min(best + 1, roots.size() - 1)];
    const auto [inner, there] = minimum_of(profile, low, high);
    return there < *least ? inner : roots[best];
  }

  /// Returns the largest sqrt(c), because fits use c <= 10.
  static double most_root_c() { return std::sqrt(10.0); }

 private:
  /// Returns sqrt(c) and chi-squared of the best positive communication cost.
  [[nodiscard]] std::pair<double, double> inner_minimum(double root_s) const {
    return minimum_of([&](double c) { return at(root_s, c).chi_squared; }, 0.0, most_root_c());
  }
  ScalingLaw law_;
  std::vector<WeighedPoint> points_;
};

/// Returns the point between `inside` and `outside` where `is_inside` becomes false. Assumes that
/// `is_inside` changes only once between them.
double border(double inside, double outside, const std::function<bool(double)>& is_inside) {
  if (is_inside(outside)) return outside;
  for (int halvings = 0; halvings < 20; ++halvings) {
    const double middle = 0.5 * (inside + outside);
    (is_inside(middle) ? inside : outside) = middle;
  }
  return inside;
}

/// Returns the factor by which to multiply the stated variances of the points, at least 1. It is
/// the weighted mean of 1 (weight `prior`) and of the points' scatter around the best curve (weight
/// `degrees_of_freedom`).
double error_scale(double chi_squared, double degrees_of_freedom, double prior) {
  if (std::isinf(prior)) return 1.0;
  return std::max(1.0, (prior + chi_squared) / (prior + degrees_of_freedom));
}

double threshold_95(double degrees_of_freedom) {
  if (std::isinf(degrees_of_freedom))
    return boost::math::quantile(boost::math::chi_squared(1.0), 0.95);
  return boost::math::quantile(boost::math::fisher_f(1.0, degrees_of_freedom), 0.95);
}

/// Adds curves with this serial share and a chi-squared of at most `limit` to `region`. `weight` is
/// the sum of the points' weights.
void add_curves(const LeastSquares& squares, ScalingLaw law, double root_s, double limit,
                double weight, std::vector<ScalingCurve>& region) {
  const Communication best = squares.best_communication(root_s);
  const auto is_inside = [&](double root_c) {
    return squares.at(root_s, root_c).chi_squared <= limit;
  };
  double low = best.root;
  double high = best.root;
  if (communicates(law) && is_inside(best.root)) {
    low = border(best.root, 0.0, is_inside);
    high = border(best.root, LeastSquares::most_root_c(), is_inside);
  }
  std::vector<double> roots_c = evenly_spaced(low, high, 6);
  roots_c.insert(roots_c.begin(), best.root);
  for (const double root_c : roots_c) {
    const Residuals at = squares.at(root_s, root_c);
    const double half_width = std::sqrt(std::max(0.0, limit - at.chi_squared) / weight);
    for (const double sign : {-1.0, 1.0}) {
      region.push_back(
          {law, std::exp(at.log_one_s + sign * half_width), root_s * root_s, root_c * root_c});
    }
  }
}

ScalingFit fit_law(ScalingLaw law, std::span<const ScalingPoint> points, double error_dof) {
  const LeastSquares squares(law, points);
  const double root_s = squares.best_root_s();
  const Communication best = squares.best_communication(root_s);
  ScalingFit fit;
  fit.best = {law, std::exp(best.at.log_one_s), root_s * root_s, best.root * best.root};
  fit.chi_squared = best.at.chi_squared;
  fit.degrees_of_freedom =
      std::max(0.0, static_cast<double>(points.size()) - (communicates(law) ? 3.0 : 2.0));
  const double limit =
      fit.chi_squared + error_scale(fit.chi_squared, fit.degrees_of_freedom, error_dof) *
                            threshold_95(error_dof + fit.degrees_of_freedom);
  fit.chi_squared_limit = limit;
  // First try the best communication cost of a nearby s. If s is clearly inside at that cost, its
  // own best cost need not be searched. `clearly` allows for the error of a search.
  const double clearly = 1.0 - boost::math::tools::root_epsilon<double>();
  double nearby = best.root;
  const auto is_inside = [&](double s) {
    if (squares.at(s, nearby).chi_squared <= clearly * limit) return true;
    const Communication here = squares.best_communication(s);
    const bool inside = here.at.chi_squared <= limit;
    if (inside) nearby = here.root;
    return inside;
  };
  const double low = border(root_s, 0.0, is_inside);
  const double high = border(root_s, 1.0, is_inside);
  double weight = 0.0;
  for (const ScalingPoint& point : points)
    weight += 1.0 / (point.relative_error * point.relative_error);
  for (const double each_root_s : evenly_spaced(low, high, 24))
    add_curves(squares, law, each_root_s, limit, weight, fit.region);
  return fit;
}

/// Compares the fits by quasi-AICc (Burnham and Anderson, "Model selection and multimodel
/// inference", 2002, section 2.5). The book estimates the scale of the errors from the most general
/// model. Here no law contains all other laws, so the function uses the smallest scale of all
/// compared laws.
void compare(std::vector<ScalingFit>& fits, double count, double error_dof) {
  const auto can_compare = [](const ScalingFit& fit) { return fit.degrees_of_freedom >= 2.0; };
  double scale = k_infinity;
  for (const ScalingFit& fit : fits) {
    if (!can_compare(fit)) continue;
    scale = std::min(scale, error_scale(fit.chi_squared, fit.degrees_of_freedom, error_dof));
  }
  double least_aicc = k_infinity;
  for (ScalingFit& fit : fits) {
    const double k = count - fit.degrees_of_freedom;
    if (!can_compare(fit)) continue;
    fit.aicc = fit.chi_squared / scale + 2.0 * k + 2.0 * k * (k + 1.0) / (count - k - 1.0);
    least_aicc = std::min(least_aicc, *fit.aicc);
  }
  double sum = 0.0;
  for (ScalingFit& fit : fits) {
    if (fit.aicc) sum += fit.weight = std::exp(0.5 * (least_aicc - *fit.aicc));
  }
  for (ScalingFit& fit : fits) {
    if (fit.aicc) fit.weight /= sum;
  }
  std::ranges::stable_sort(fits, std::greater<>{}, &ScalingFit::weight);
}

}  // namespace

bool communicates(ScalingLaw law) {
  return law != ScalingLaw::amdahl && law != ScalingLaw::gustafson;
}

double ScalingCurve::time_s(double count) const {
  return one_s * relative_time(law, serial, communication, count, log2_for(law, count)).total();
}

TimeParts ScalingCurve::shares(double count) const {
  const TimeParts time = relative_time(law, serial, communication, count, log2_for(law, count));
  const double total = time.total();
  return {time.serial / total, time.parallel / total, time.communication / total};
}

Estimate ScalingFit::estimate(const std::function<double(const ScalingCurve&)>& quantity) const {
  const double value = quantity(best);
  Estimate result{value, value, value};
  for (const ScalingCurve& curve : region) {
    const double there = quantity(curve);
    result.low = std::min(result.low, there);
    result.high = std::max(result.high, there);
  }
  return result;
}

Estimate estimate_by_plausible_laws(std::span<const ScalingFit> fits,
                                    const std::function<double(const ScalingCurve&)>& quantity) {
  const ScalingFit& closest = *std::ranges::min_element(fits, {}, &ScalingFit::chi_squared);
  Estimate result = fits.front().estimate(quantity);
  for (const ScalingFit& fit : fits.subspan(1)) {
    if (fit.chi_squared > closest.chi_squared_limit) continue;
    const Estimate other = fit.estimate(quantity);
    result.low = std::min(result.low, other.low);
    result.high = std::max(result.high, other.high);
  }
  return result;
}

double knee_of(const ScalingCurve& curve, std::span<const double> counts, double min_efficiency) {
  const auto speed = [&](double count) { return curve.one_s / curve.time_s(count); };
  double knee = counts.front();
  double speed_at_knee = speed(knee);
  const double wanted = min_efficiency * speed_at_knee / knee;
  for (const double count : counts.subspan(1)) {
    const double here = speed(count);
    if (count > knee && (here - speed_at_knee) / (count - knee) < wanted) break;
    knee = count;
    speed_at_knee = here;
  }
  return knee;
}

std::vector<ScalingFit> fit_scaling_laws(std::span<const ScalingPoint> points,
                                         double error_degrees_of_freedom) {
  std::vector<ScalingFit> fits;
  if (points.size() < 2) return fits;
  for (const ScalingLaw law : k_laws)
    fits.push_back(fit_law(law, points, error_degrees_of_freedom));
  compare(fits, static_cast<double>(points.size()), error_degrees_of_freedom);
  return fits;
}

}  // namespace steptune
