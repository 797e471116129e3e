// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/document/node.hpp"
#include "search/space/expression.hpp"
#include "trial_runner/runner_kind.hpp"

namespace steptune::study {

/// The facts of a study whose trials run on other machines than the tuner's: what is `known` of
/// those, then what the study states. An expression that mentions another one is a fault: the
/// tuner's own machine says nothing of where trials run.
[[nodiscard]] Facts remote_facts(const document::ObjectNode& root, RemoteMachine known);

}  // namespace steptune::study
