// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// A page that a server gives out. It loads its scripts and styles from `k_asset_folder` of that
/// server, is fetched again where the server tells of a change, and leads back to the server's
/// first page; its content policy is the server's to send.
struct LivePage {
  std::string events;  ///< address of the server-sent events
};

inline constexpr std::string_view k_asset_folder = "/assets/";

/// A script or style of the pages.
struct PageAsset {
  std::string name;  ///< the last part of its address
  const char* type;  ///< of its content, for HTTP
  std::string text;
};
[[nodiscard]] const std::vector<PageAsset>& page_assets();

/// What a page is made of, as HTML where nothing else is said.
struct PageParts {
  std::string title;  ///< text
  std::string header;
  std::string content;
  std::string data{};                     ///< JSON for the scripts; empty: none
  std::vector<std::string> scripts = {};  ///< names of assets
};

/// The whole document; without `live` it holds all that it needs and loads nothing.
[[nodiscard]] std::string framed_page(const PageParts& parts, const LivePage* live);

}  // namespace steptune
