// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/document/node.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

using document::ObjectNode;

/// The facts of a study whose trials run on rented machines: `cpus`, `gpus` and `memory_gb` of the
/// instance type where all instances are of one that is named without placeholder, as prices or
/// price table describe it; then those that the study states. An expression that mentions another
/// one is a fault: the tuner's own machine says nothing of where trials run.
[[nodiscard]] Facts instance_facts(const ObjectNode& root);

}  // namespace steptune::study
