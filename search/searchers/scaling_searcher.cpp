// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "search/scaling/scaling_law.hpp"
#include "search/searchers/basic_searchers.hpp"
#include "search/searchers/visited.hpp"

namespace steptune {
namespace {

/// Degrees of freedom with which the scale of the errors is known: a few launches.
constexpr double k_error_degrees_of_freedom = 3.0;
/// If all machines of a count are worth their price, the next count is larger by this factor
/// (unbounded search: Bentley and Yao, "An almost optimal algorithm for unbounded searching",
/// Information Processing Letters 5(3), 1976). The factor is small, because trials at too large
/// counts cost most.
constexpr double k_outward = 2.0;

/// The best trial measured at one count.
struct CountBest {
  Configuration configuration;
  bool complete = false;
  double time = k_infinity;
  double relative_error = 0.0;
};

class ScalingSearcher final : public Searcher {
 public:
  ScalingSearcher(const SearchSpace& space, std::size_t over, ScalingSearch options,
                  std::uint64_t seed)
      : space_(space), over_(over), options_(std::move(options)), seed_(seed), visited_(space) {
    const Parameter& parameter = space_.parameters()[over_];
    for (std::uint64_t level = 0; level < *parameter.level_count(); ++level) {
      const Value value = parameter.level(level);
      values_.emplace(to_number(value), value);
    }
  }

  void observe(const Observation& observation) override {
    visited_.add(observation.configuration);
    const auto count = count_of(observation.configuration);
    if (!count) return;
    // A trial that misses a deadline still adds a point to the curve.
    const bool has_value = observation.values.size() > options_.objective;
    const double time = has_value ? observation.values[options_.objective] : 0.0;
    if (!(time > 0.0)) {
      failed_.insert(*count);
      return;
    }
    const bool complete = observation.kind == ObservationKind::complete;
    CountBest& best = best_[*count];
    if (std::pair(!complete, time) >= std::pair(!best.complete, best.time)) return;
    best = {observation.configuration, complete, time,
            std::max(observation.standard_errors[options_.objective] / time, k_least_time_error)};
  }

  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    // Earlier results decide each count. Only the second count does not depend on them, so its
    // trial may start while the first trial runs.
    if (request.running.size() > (best_.empty() ? 1U : 0U)) return std::nullopt;
    const std::map<double, Configuration> open = open_counts(request);
    if (open.empty()) {
      why_done_ = fmt::format("every count of {} that can be tried has been tried", name());
      return std::nullopt;
    }
    if (const auto count = next_count(open)) {
      return Suggestion{open.at(*count), "scaling", std::nullopt};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string why_done() const override {
    if (!options_.deadline || why_done_.empty()) return why_done_;
    const auto meets = first_in_time();
    return why_done_ +
           (meets == best_.end()
                ? std::string("; none that was measured meets the deadline")
                : fmt::format("; the smallest measured count that meets the deadline: {}={}",
                              name(), meets->first));
  }

 private:
  [[nodiscard]] std::string name() const { return printable_line(space_.parameters()[over_].name); }

  [[nodiscard]] std::optional<double> count_of(const Configuration& configuration) const {
    const Value* value = configuration.find(space_.parameters()[over_].name);
    if (value == nullptr || !values_.contains(to_number(*value))) return std::nullopt;
    return to_number(*value);
  }

  /// Returns `base` with another count, adjusted to the space; nullopt if it was tried or is not
  /// allowed.
  [[nodiscard]] std::optional<Configuration> with_count(const Configuration& base,
                                                        const Value& count) const {
    Point point = space_.encode(base);
    for (double& coordinate : point) {
      if (std::isnan(coordinate)) coordinate = k_inactive;
    }
    point[over_] = space_.parameters()[over_].position_of(count);
    if (!space_.snap(point) || visited_.contains(point)) return std::nullopt;
    return space_.decode(point);
  }

  /// Returns configurations whose other parameters may be used at `count`, in order of preference.
  /// The first is the best at the nearest measured count, the second the best at the smallest. If
  /// no count is measured, returns the running configuration or a random one.
  [[nodiscard]] std::vector<Configuration> bases(double count,
                                                 const SuggestRequest& request) const {
    std::vector<Configuration> bases;
    const auto nearest = std::ranges::min_element(
        best_, {}, [count](const auto& each) { return std::abs(std::log(each.first / count)); });
    if (nearest != best_.end()) {
      bases.push_back(nearest->second.configuration);
      bases.push_back(best_.begin()->second.configuration);
    } else if (!request.running.empty()) {
      bases.push_back(request.running.front());
    } else {
      Rng rng(seed_, "scaling base");
      if (auto any = space_.sample(rng)) bases.push_back(*std::move(any));
    }
    return bases;
  }

  /// Returns the counts that are neither measured nor running, with the configuration to try at
  /// each.
  [[nodiscard]] std::map<double, Configuration> open_counts(const SuggestRequest& request) const {
    std::set<double> running;
    for (const Configuration& configuration : request.running) {
      if (const auto count = count_of(configuration)) running.insert(*count);
    }
    std::map<double, Configuration> open;
    for (const auto& [count, value] : values_) {
      if (best_.contains(count) || running.contains(count)) continue;
      for (const Configuration& base : bases(count, request)) {
        if (auto configuration = with_count(base, value)) {
          open.emplace(count, *std::move(configuration));
          break;
        }
      }
    }
    return open;
  }

  /// Returns the next count to try; nullopt if a further trial would not locate the knee better.
  [[nodiscard]] std::optional<double> next_count(const std::map<double, Configuration>& open) {
    const double least = open.begin()->first;
    if (best_.empty() || least < best_.begin()->first) return least;
    const double most = best_.rbegin()->first;
    const auto fits = fit_scaling_laws(points(), k_error_degrees_of_freedom);
    const std::vector<double> counts = counts_up_to(most);
    Estimate knee{most, most, most};
    if (!fits.empty()) {
      knee = estimate_by_plausible_laws(fits, [&](const ScalingCurve& curve) {
        return knee_of(curve, counts, options_.min_efficiency);
      });
    }
    const auto outward = next_outward(open, most);
    if (knee.mean >= most && outward) return outward;
    if (fits.empty()) return open.begin()->first < most ? next_inward(open, most) : std::nullopt;
    if (const auto count = next_for_deadline(open, fits, outward)) return count;
    if (const auto count = least_certain(open, fits, knee)) return count;
    // The knee's interval may reach beyond the measured counts even if the estimated knee does not.
    if (knee.high >= most && outward) return outward;
    if (const auto failed = failed_.upper_bound(most);
        knee.mean >= most && failed != failed_.end()) {
      why_done_ = fmt::format("{}={} failed, and all smaller counts pay off", name(), *failed);
    }
    return std::nullopt;
  }

  using BestByCount = std::map<double, CountBest>;

  /// Returns the smallest measured count that meets the deadline, or the end iterator. A deadline
  /// must be set.
  [[nodiscard]] BestByCount::const_iterator first_in_time() const {
    return std::ranges::find_if(
        best_, [this](const auto& each) { return each.second.time <= *options_.deadline; });
  }

  /// Returns a count to try in search of the smallest count that meets the deadline. If no measured
  /// count meets it, but the laws predict that a larger count does, returns a larger count up to
  /// `outward`. Otherwise compares the last count that misses the deadline with the first count
  /// that meets it. If their times differ by more than a trial's error, returns a count between
  /// them.
  [[nodiscard]] std::optional<double> next_for_deadline(
      const std::map<double, Configuration>& open, std::span<const ScalingFit> fits,
      const std::optional<double>& outward) const {
    if (!options_.deadline) return std::nullopt;
    const auto by_law = [&](double count) { return fits.front().best.time_s(count); };
    const auto meets = first_in_time();
    if (meets == best_.end()) {
      if (!outward) return std::nullopt;
      const auto beyond = open.upper_bound(best_.rbegin()->first);
      const auto may_meet = std::find_if(beyond, open.end(), [&](const auto& each) {
        const Estimate time = estimate_by_plausible_laws(
            fits, [&](const ScalingCurve& curve) { return curve.time_s(each.first); });
        return time.low <= *options_.deadline;
      });
      if (may_meet == open.end()) return std::nullopt;
      const auto expected = std::find_if(beyond, open.end(), [&](const auto& each) {
        return by_law(each.first) <= *options_.deadline;
      });
      return expected == open.end() ? *outward : std::min(*outward, expected->first);
    }
    if (meets == best_.begin()) return std::nullopt;
    const auto misses = std::prev(meets);
    if (std::log(misses->second.time / meets->second.time) <= k_z_95 * typical_error()) {
      return std::nullopt;
    }
    const auto end = open.lower_bound(meets->first);
    const auto found = std::find_if(open.upper_bound(misses->first), end, [&](const auto& each) {
      return by_law(each.first) <= *options_.deadline;
    });
    return found == end ? std::nullopt : std::optional(found->first);
  }

  /// Returns a count larger than all measured counts: about twice the largest, or between the
  /// largest and the smallest failed count above it. Stays below the smallest failed count. A count
  /// may fail because of a quota, or of a batch that cannot be divided.
  [[nodiscard]] std::optional<double> next_outward(const std::map<double, Configuration>& open,
                                                   double most) {
    const auto least_failed = failed_.upper_bound(most);
    const double limit = least_failed == failed_.end() ? k_infinity : *least_failed;
    const double target = std::min(k_outward * most, std::sqrt(most * limit));
    std::optional<double> nearest;
    const auto distance = [&](double count) { return std::abs(std::log(count / target)); };
    for (auto each = open.upper_bound(most); each != open.end() && each->first < limit; ++each) {
      if (!nearest || distance(each->first) < distance(*nearest)) nearest = each->first;
    }
    if (!nearest && std::isfinite(limit)) {
      why_done_ = fmt::format("{}={} failed, and all smaller counts are known", name(), limit);
    }
    return nearest;
  }

  /// Returns the largest open count below `most`.
  [[nodiscard]] static std::optional<double> next_inward(
      const std::map<double, Configuration>& open, double most) {
    const auto above = open.lower_bound(most);
    return above == open.begin() ? std::nullopt : std::optional(std::prev(above)->first);
  }

  /// Returns the count within the knee's interval at which the predicted time is least certain.
  /// Returns nullopt if that uncertainty does not exceed a trial's error.
  [[nodiscard]] std::optional<double> least_certain(const std::map<double, Configuration>& open,
                                                    std::span<const ScalingFit> fits,
                                                    const Estimate& knee) {
    const double trial_error = k_z_95 * typical_error();
    double widest = 0.0;
    std::optional<double> found;
    for (auto each = open.lower_bound(knee.low); each != open.end() && each->first <= knee.high;
         ++each) {
      const Estimate time = estimate_by_plausible_laws(
          fits, [&](const ScalingCurve& curve) { return std::log(curve.time_s(each->first)); });
      const double half_width = 0.5 * (time.high - time.low);
      if (half_width <= widest) continue;
      widest = half_width;
      found = each->first;
    }
    if (found && widest > trial_error) return found;
    why_done_ = knee.low == knee.high ? fmt::format("the knee is known: {}={}", name(), knee.mean)
                                      : fmt::format(
                                            "a further trial would not locate the knee more "
                                            "precisely: {}={} (95 % interval {} to {})",
                                            name(), knee.mean, knee.low, knee.high);
    return std::nullopt;
  }

  [[nodiscard]] std::vector<ScalingPoint> points() const {
    std::vector<ScalingPoint> points;
    for (const auto& [count, best] : best_)
      points.push_back({count, best.time, best.relative_error});
    return points;
  }

  [[nodiscard]] double typical_error() const {
    double sum = 0.0;
    for (const auto& [count, best] : best_)
      sum += best.relative_error;
    return sum / static_cast<double>(best_.size());
  }

  /// Returns the counts from the least measured one up to `most`.
  [[nodiscard]] std::vector<double> counts_up_to(double most) const {
    std::vector<double> counts;
    for (const auto& [count, value] : values_) {
      if (count >= best_.begin()->first && count <= most) counts.push_back(count);
    }
    return counts;
  }

  const SearchSpace& space_;
  std::size_t over_;
  ScalingSearch options_;
  std::uint64_t seed_;
  Visited visited_;
  std::map<double, Value> values_;  ///< values of the counting parameter, by number
  BestByCount best_;
  std::set<double> failed_;  ///< counts at which a trial gave no time
  std::string why_done_;
};

}  // namespace

Result<std::unique_ptr<Searcher>> make_scaling_searcher(const SearchSpace& space,
                                                        const SearcherOptions& options) {
  const auto refuse = [](std::string message) {
    return fail(ErrorKind::usage, std::move(message), {},
                "name a parameter of whole numbers from 1 on");
  };
  const auto& parameters = space.parameters();
  if (!options.scaling)
    return refuse("the searcher scaling needs a parameter that counts machines");
  const auto over = std::ranges::find(parameters, options.scaling->over, &Parameter::name);
  if (over == parameters.end()) {
    return refuse(
        fmt::format("there is no parameter \"{}\"", printable_line(options.scaling->over)));
  }
  const auto levels = over->level_count();
  if (!levels || *levels > k_most_counts) {
    return refuse(
        fmt::format("\"{}\" has more than {} values", printable_line(over->name), k_most_counts));
  }
  for (std::uint64_t level = 0; level < *levels; ++level) {
    if (!(to_number(over->level(level)) >= 1.0)) {
      return refuse(fmt::format("\"{}\" has values that are not counts of machines",
                                printable_line(over->name)));
    }
  }
  return std::make_unique<ScalingSearcher>(
      space, static_cast<std::size_t>(over - parameters.begin()), *options.scaling, options.seed);
}

}  // namespace steptune
