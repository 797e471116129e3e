// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "search/observation.hpp"
#include "search/searchers/bayes/extrapolation.hpp"
#include "search/space/search_space.hpp"

namespace steptune::bayes {

/// What a trial that was stopped says about the value of a full one.
struct FullValue {
  double value = 0.0;
  double standard_error = 0.0;  ///< of what it may do by itself
  double common_error = 0.0;    ///< of what all such trials share
};

/// The ways that trials went, for one objective, and what follows from all of them for the trials
/// that did not go to their end.
class Courses {
 public:
  /// `positive`: values are worth looking at on a log scale while all are positive.
  explicit Courses(bool positive) : log_(positive) {}

  struct Course {
    Point point;
    std::size_t row = 0;           ///< in the learners of the objectives
    std::vector<CoursePoint> way;  ///< values as measured; at least one, the last one is its end
    bool full = false;
    bool superseded = false;  ///< a later trial of the same configuration went further, or failed

    /// Whether to start it again may be worth something.
    [[nodiscard]] bool open() const { return !full && !superseded; }
  };

  /// A trial of `point` failed: nothing that was stopped there is worth going on with.
  void abandon(const Point& point);
  /// `observation` has one finite value.
  void add(Point point, std::size_t row, const Observation& observation);
  [[nodiscard]] const std::vector<Course>& all() const { return courses_; }

  /// What a full trial that has come to `now` (as measured) will end at; nothing while too little
  /// is known of how values go on.
  [[nodiscard]] std::optional<FullValue> full(const CoursePoint& now) const;
  /// The same of a trial that was stopped, with hardly any weight where it is superseded.
  [[nodiscard]] std::optional<FullValue> full(const Course& course) const;
  /// The lowest fidelity at which any trial was looked at.
  [[nodiscard]] double least_fidelity() const { return least_fidelity_; }

 private:
  [[nodiscard]] CoursePoint scaled(const CoursePoint& measured) const;
  void learn();

  bool log_;
  std::vector<Course> courses_;
  std::optional<Extrapolation> extrapolation_;
  double least_fidelity_ = 1.0;
};

/// The first objective of a milestone.
[[nodiscard]] CoursePoint to_course_point(const Milestone& milestone);

}  // namespace steptune::bayes
