// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html/page_frame.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tuner/report/html/embedded_files.hpp"
#include "tuner/report/html/html_text.hpp"

namespace steptune {
namespace {

/// Lets the page load and send nothing, whatever a text of the study contains.
constexpr const char* k_content_policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'";

constexpr const char* k_d3_licence =
    "/* D3, https://d3js.org. Copyright (c) 2010-2016 Michael Bostock. All rights reserved. "
    "Redistribution and use in source and binary forms, with or without modification, are "
    "permitted under the terms of the 3-clause BSD licence; THIS SOFTWARE IS PROVIDED \"AS IS\" "
    "without any warranty. */\n";

constexpr const char* k_style = "report.css";

const std::string& asset_text(const std::string& name) {
  return std::ranges::find(page_assets(), name, &PageAsset::name)->text;
}

}  // namespace

const std::vector<PageAsset>& page_assets() {
  static const char* const k_script = "text/javascript; charset=utf-8";
  static const std::vector<PageAsset> k_assets{
      {k_style, "text/css; charset=utf-8", std::string(embedded::report_css)},
      {"d3.js", k_script, k_d3_licence + std::string(embedded::d3_min_js)},
      {"tables.js", k_script, std::string(embedded::tables_js)},
      {"timeline.js", k_script, std::string(embedded::timeline_js)},
      {"scaling.js", k_script, std::string(embedded::scaling_js)},
      {"chart_parts.js", k_script, std::string(embedded::chart_parts_js)},
      {"trial_charts.js", k_script, std::string(embedded::trial_charts_js)},
      {"charts.js", k_script, std::string(embedded::charts_js)},
      {"live.js", k_script, std::string(embedded::live_js)},
  };
  return k_assets;
}

std::string framed_page(const PageParts& parts, const LivePage* live) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n";
  if (live == nullptr) {
    page += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n",
                        k_content_policy);
  }
  page += fmt::format("<title>{} - steptune</title>\n", html_escaped(parts.title));
  page += live == nullptr
              ? fmt::format("<style>\n{}</style>\n", asset_text(k_style))
              : fmt::format("<link rel=\"stylesheet\" href=\"{}{}\">\n", k_asset_folder, k_style);
  page += live == nullptr
              ? std::string("</head>\n<body>\n")
              : fmt::format("</head>\n<body data-events=\"{}\">\n", html_escaped(live->events));
  page += fmt::format("<header>{}", parts.header);
  if (live != nullptr) page += "<p id=\"live\" role=\"status\"></p>";
  page += fmt::format("</header>\n<main>\n{}</main>\n", parts.content);
  page += fmt::format("<footer><p>Made by steptune. This page loads nothing {}.</p></footer>\n",
                      live == nullptr ? "and sends nothing" : "from elsewhere than this address");
  page += "<div id=\"tip\" role=\"status\" hidden></div>\n";
  if (!parts.data.empty()) {
    page += fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", parts.data);
  }
  std::vector<std::string> scripts = parts.scripts;
  if (live != nullptr) scripts.emplace_back("live.js");
  for (const std::string& name : scripts) {
    page += live == nullptr ? fmt::format("<script>\n{}</script>\n", asset_text(name))
                            : fmt::format("<script src=\"{}{}\"></script>\n", k_asset_folder, name);
  }
  return page + "</body>\n</html>\n";
}

}  // namespace steptune
