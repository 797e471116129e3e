// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/golden/program.hpp"

namespace steptune::golden {

inline constexpr const char* k_no_browser =
    "/usr/bin/chromium is not installed (scripts/install-packages browser)";

/// Whether there is one, or has to be (`STEPTUNE_NEEDS_BROWSER` is set, as in `scripts/check`):
/// tests then fail for want of it.
[[nodiscard]] bool has_browser();

/// What a headless browser makes of the page at `address`, in `out`; its messages are in `err`.
[[nodiscard]] Ended document_in_browser(const Sandbox& sandbox, const std::string& address);

}  // namespace steptune::golden
