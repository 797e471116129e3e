// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/verdict/speed_up.hpp"

namespace steptune {

/// Returns the scatter of a judgement from the scatter of each of its commands. All commands are
/// compared with the same runs, so they are not independent and count as one command. The result is
/// the mean over the commands with at least two pairs. It has no degrees of freedom if no command
/// has two pairs.
[[nodiscard]] Scatter scatter_of_judgement(const std::vector<Scatter>& commands);

/// Estimates how much pairs of a program differ, from the scatter of each earlier judgement.
///
/// The standard deviation measures how far all pairs lie from the mean of their judgement. Its
/// degrees of freedom are the sum over all judgements. There are fewer if the scatter varies
/// between judgements more than by chance, for example on a machine whose load changes. This is the
/// moderated t-statistic of G. K. Smyth, "Linear models and empirical Bayes methods for assessing
/// differential expression in microarray experiments", Statistical Applications in Genetics and
/// Molecular Biology 3(1), 2004, section 6.2. Smyth uses the scale of a prior as the deviation. The
/// mean, used here, is larger.
[[nodiscard]] Scatter pooled_scatter(const std::vector<Scatter>& judgements);

}  // namespace steptune
