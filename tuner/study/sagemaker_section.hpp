// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/document/node.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

using document::Node;

/// A runner of type `sagemaker`. What the service would refuse is found later, by
/// `check_training_jobs`, when the configurations are known.
[[nodiscard]] RunnerSpec read_sagemaker(const Node& node);

/// The settings that follow from `limits`; to be called once these have been read. `runner` is the
/// runner's place.
void settle_sagemaker_times(const Node& runner, double wall_limit_s, RunnerSpec& spec);

}  // namespace steptune::study
