// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tests/golden/program.hpp"

namespace steptune::golden {

/// Whether a document that a command has printed is as its definition in
/// `configs/output.schema.json` says, which describes all of its members. Needs
/// python3-jsonschema of the distribution.
[[nodiscard]] ::testing::AssertionResult is_as_defined(const Sandbox& sandbox,
                                                       const std::string& document,
                                                       const std::string& definition);

}  // namespace steptune::golden
