// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptune {

/// Whether the text has one of the messages that are printed when memory, the machine's or an
/// accelerator's, has run out: by programs, their libraries, or what the batch system says of
/// them.
[[nodiscard]] bool reports_out_of_memory(std::string_view output);

}  // namespace steptune
