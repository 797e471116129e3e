// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/json.hpp"

namespace steptune::fuzz {

/// Reads a study document: true if it is one, and then it renders and reads back the same; false if
/// the error names the place, in printable text. Throws `BrokenPromise` otherwise.
bool keeps_promises_of_a_study(const Json& document);

}  // namespace steptune::fuzz
