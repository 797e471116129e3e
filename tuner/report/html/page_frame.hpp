// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// A page from a server. The page loads scripts and styles from the server's `k_asset_folder`, and
/// links to the server's first page. The page updates itself when the server reports a change. The
/// page has no content policy, because the server sends one.
struct LivePage {
  std::string events;  ///< address of the server-sent events
};

inline constexpr std::string_view k_asset_folder = "/assets/";

/// A script or style sheet of the pages.
struct PageAsset {
  std::string name;  ///< last part of its address
  const char* type;  ///< content type for HTTP
  std::string text;
};
[[nodiscard]] const std::vector<PageAsset>& page_assets();

/// Parts of a page, in HTML unless stated otherwise.
struct PageParts {
  std::string title;  ///< plain text
  std::string header;
  std::string content;
  std::string data{};                     ///< JSON for the scripts; empty: none
  std::vector<std::string> scripts = {};  ///< names of assets
};

/// Returns the whole document. Without `live`, the page contains all scripts, styles and data, and
/// loads nothing.
[[nodiscard]] std::string framed_page(const PageParts& parts, const LivePage* live);

}  // namespace steptune
