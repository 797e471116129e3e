// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/json.hpp"

namespace steptune::fuzz {

/// Reads a study document. Returns true if it is a study, after checking that it renders and reads
/// back the same. Returns false if the error names the place, in printable text. Throws
/// `BrokenPromise` otherwise.
bool keeps_promises_of_a_study(const Json& document);

}  // namespace steptune::fuzz
