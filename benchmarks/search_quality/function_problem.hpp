// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "benchmarks/search_quality/problem.hpp"
#include "common/error.hpp"

namespace steptune::search_quality {

/// The test functions by name:
/// - `branin`: two floats, optimum 0.397887;
/// - `hartmann6`: six floats, optimum -3.32237;
/// - `ackley_mixed8`: Ackley's function of three integers, three floats and two categorical
///   parameters. Optimum 0, not at the centre; the five choices are in scrambled order;
/// - `zdt1_d6`: two objectives, six parameters of 11 levels, reference (1.1, 6);
/// - `branin_currin`: two objectives, two floats, reference (18, 6), largest hypervolume 59.36.
[[nodiscard]] Result<Problem> function_problem(const std::string& name);
[[nodiscard]] const std::vector<std::string>& function_names();

}  // namespace steptune::search_quality
