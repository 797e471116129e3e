// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/verdict/speed_up.hpp"

namespace steptune {

/// Returns the scatter of a judgement from that of each of its commands. All commands are compared
/// with the same runs, so they are not independent and together count as one: the means of those
/// with at least two pairs. No degrees of freedom if none has two pairs.
[[nodiscard]] Scatter scatter_of_judgement(const std::vector<Scatter>& commands);

/// Estimates how much pairs of a program differ, from the scatter of each earlier judgement.
///
/// The standard deviation is that of all pairs about the mean of their judgement. Its degrees of
/// freedom are those of all judgements together. They are fewer if the scatter varies between
/// judgements more than by chance, as on a machine whose load changes. Moderated t-statistic:
/// G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in
/// microarray experiments", Statistical Applications in Genetics and Molecular Biology 3(1), 2004,
/// section 6.2. Smyth's deviation is the scale of a prior; the mean, used here, is larger.
[[nodiscard]] Scatter pooled_scatter(const std::vector<Scatter>& judgements);

}  // namespace steptune
