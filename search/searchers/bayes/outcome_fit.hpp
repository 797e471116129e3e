// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "search/searchers/bayes/interaction_kernel.hpp"

namespace steptune::bayes {

/// What is believed of outcomes before any.
[[nodiscard]] InteractionKernel prior_kernel(const FeatureGroups& groups);

/// Value of the latent function at which an outcome is as likely true as it was so far.
[[nodiscard]] double mean_of(const std::vector<bool>& outcomes);

/// Kernel under which the outcomes, each given those before it, are likeliest, with a prior about
/// `prior_kernel`: lengthscales and amplitude from a few, one at a time upwards or downwards from
/// `start`, which has such values.
[[nodiscard]] InteractionKernel fit_kernel(const Matrix& features,
                                           const std::vector<bool>& outcomes,
                                           const FeatureGroups& groups,
                                           const InteractionKernel& start);

}  // namespace steptune::bayes
