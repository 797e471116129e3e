// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tests/golden/program.hpp"

namespace steptune::golden {

/// Checks that a command's document matches its definition in `configs/output.schema.json`, and
/// that the definition describes all its members. Needs the distribution's python3-jsonschema.
[[nodiscard]] ::testing::AssertionResult is_as_defined(const Sandbox& sandbox,
                                                       const std::string& document,
                                                       const std::string& definition);

}  // namespace steptune::golden
