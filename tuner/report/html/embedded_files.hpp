// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// Files embedded in the program, by name.
namespace steptune::embedded {

extern const std::string_view d3_min_js;  ///< M. Bostock's D3, BSD licence
extern const std::string_view report_css;
extern const std::string_view charts_js;
extern const std::string_view chart_parts_js;
extern const std::string_view trial_charts_js;
extern const std::string_view tables_js;
extern const std::string_view timeline_js;
extern const std::string_view scaling_js;
extern const std::string_view live_js;

}  // namespace steptune::embedded
