// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Variable with the folders in which Python looks for modules, the hook among them.
inline constexpr const char* k_python_path = "PYTHONPATH";

}  // namespace steptune
