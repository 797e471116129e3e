// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/document/node.hpp"
#include "search/space/expression.hpp"
#include "trial_runner/runner_kind.hpp"

namespace steptune::study {

/// Returns the facts of a study whose trials run on other machines than the tuner's: the `known`
/// ones, replaced by those that the study states. If an expression mentions any other fact, adds a
/// fault, because the tuner's own machine says nothing about those machines.
[[nodiscard]] Facts remote_facts(const document::ObjectNode& root, RemoteMachine known);

}  // namespace steptune::study
