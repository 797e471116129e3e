// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "common/numbers.hpp"

namespace steptune::measuring_methods {

/// Method of comparing the speed of two commands, A and B.
enum class Method {
  hyperfine_printed,  ///< all runs of A, then all of B; ratio and error as hyperfine prints them
  hyperfine,          ///< the same runs; 95 % interval of the ratio of means
  google_benchmark,   ///< one launch of each; repetitions in random order
  duet,               ///< launches of both at the same time; ratios of simultaneous samples
  one_by_one,         ///< Steptune: pairs of launches, one launch after the other
  in_turns,           ///< Steptune: pairs of launches in turns of a quarter of a second
};
inline constexpr std::array k_methods = {Method::hyperfine_printed, Method::hyperfine,
                                         Method::google_benchmark,  Method::duet,
                                         Method::one_by_one,        Method::in_turns};
[[nodiscard]] std::string to_text(Method method);

/// Two commands and the machine that they run on.
struct Model {
  std::uint64_t seed = 0;
  double time_s = 60.0;  ///< time of the comparison
  /// Speed of B divided by the speed of A. The ratio holds for starts and for steps, so that all
  /// methods estimate the same number.
  double ratio = 1.1;
  double launch_variation = 0.0;  ///< standard deviation of the logarithm of a launch's times
  double step_variation = 0.01;   ///< standard deviation of the logarithm of a step's time
  double startup_s = 1.0;         ///< start-up of A on an idle machine
  double step_s = 0.05;           ///< step of A on an idle machine
  double duet_launch_s = 10.0;    ///< time of two simultaneous launches
  int neighbours = 0;             ///< programs that use the machine in bursts (`Neighbours`)
  double neighbour_slowness = 1.4;
};

/// Estimate of `Model::ratio`, with the interval that the method claims. NaN: unknown.
struct Estimate {
  double ratio = k_nan;
  double low = k_nan;
  double high = k_nan;
};

/// Simulates one comparison. The same model gives the same estimate.
[[nodiscard]] Estimate compare(Method method, const Model& model);

}  // namespace steptune::measuring_methods
