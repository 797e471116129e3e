// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/golden/program.hpp"

namespace steptune::golden {

inline constexpr const char* k_no_browser =
    "/usr/bin/chromium is not installed (scripts/install-packages browser)";

/// True if there is a browser, or if there must be one (`STEPTUNE_NEEDS_BROWSER` is set, as in
/// `scripts/check`). In that case tests without a browser fail.
[[nodiscard]] bool has_browser();

/// Opens `address` in a headless browser. Returns the resulting document in `out` and the browser's
/// messages in `err`.
[[nodiscard]] Ended document_in_browser(const Sandbox& sandbox, const std::string& address);

}  // namespace steptune::golden
