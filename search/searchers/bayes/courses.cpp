// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/courses.hpp"

#include <algorithm>
#include <cmath>

namespace steptune::bayes {
namespace {

// By how much the standard error grows of what a later trial of the same configuration says better.
constexpr double k_superseded_errors = 30.0;

}  // namespace

CoursePoint to_course_point(const Milestone& milestone) {
  const double error = milestone.standard_errors.empty() ? 0.0 : milestone.standard_errors[0];
  return {milestone.fidelity, milestone.values[0], error * error};
}

void Courses::abandon(const Point& point) {
  for (Course& course : courses_)
    course.superseded = course.superseded || course.point == point;
}

void Courses::add(Point point, std::size_t row, const Observation& observation) {
  Course course{std::move(point), row, {}, observation.kind != ObservationKind::partial};
  double reached = 0.0;
  for (const Milestone& milestone : observation.milestones) {
    const bool further = milestone.fidelity > reached && milestone.fidelity < observation.fidelity;
    if (!further || milestone.values.empty() || !std::isfinite(milestone.values[0])) continue;
    reached = milestone.fidelity;
    course.way.push_back(to_course_point(milestone));
  }
  const double error = observation.standard_errors.empty() ? 0.0 : observation.standard_errors[0];
  course.way.push_back({observation.fidelity, observation.values[0], error * error});
  for (const CoursePoint& passed : course.way) {
    log_ = log_ && passed.value > 0.0;
    least_fidelity_ = std::min(least_fidelity_, passed.fidelity);
  }
  for (Course& former : courses_) {
    if (former.superseded || former.point != course.point) continue;
    const bool further = course.full || course.way.back().fidelity >= former.way.back().fidelity;
    (further ? former : course).superseded = true;
  }
  courses_.push_back(std::move(course));
  learn();
}

CoursePoint Courses::scaled(const CoursePoint& measured) const {
  if (!log_) return measured;
  return {measured.fidelity, std::log(measured.value),
          measured.noise_variance / (measured.value * measured.value)};
}

void Courses::learn() {
  Extrapolation extrapolation;
  for (const Course& course : courses_) {
    for (std::size_t i = 1; i < course.way.size(); ++i)
      extrapolation.add(scaled(course.way[i - 1]), scaled(course.way[i]));
  }
  extrapolation_.reset();
  if (!extrapolation.ready()) return;
  extrapolation.fit();
  extrapolation_ = std::move(extrapolation);
}

std::optional<FullValue> Courses::full(const CoursePoint& now) const {
  if (!extrapolation_ || (log_ && !(now.value > 0.0))) return std::nullopt;
  const auto full = extrapolation_->full(scaled(now));
  const double deviation = std::sqrt(full.own_variance);
  const double common = std::sqrt(full.common_variance);
  if (!log_) return FullValue{full.mean, deviation, common};
  const double value = std::exp(full.mean);
  if (!std::isfinite(value) || !(value > 0.0)) return std::nullopt;
  return FullValue{value, value * deviation, value * common};
}

std::optional<FullValue> Courses::full(const Course& course) const {
  auto result = full(course.way.back());
  if (result && course.superseded) result->standard_error *= k_superseded_errors;
  return result;
}

}  // namespace steptune::bayes
