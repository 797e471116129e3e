// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/document/node.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

using document::Node;

[[nodiscard]] RunnerSpec read_runner(const Node& node);

}  // namespace steptune::study
