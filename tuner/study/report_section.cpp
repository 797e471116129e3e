// SPDX-License-Identifier: Apache-2.0
#include <regex>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/study/identifiers.hpp"
#include "tuner/study/runner_section.hpp"
#include "tuner/study/study_keys.hpp"

namespace steptune::study {
namespace {

constexpr std::size_t k_max_metrics = 40;
constexpr std::size_t k_max_regex_bytes = 500;

void check_regex(const Node& node, const std::string& text) {
  try {
    const std::regex regex(text, std::regex::ECMAScript);
    if (regex.mark_count() == 0) {
      node.fault(
          "the expression has no group: put the number in parentheses, as in "
          "\"loss=([0-9.]+)\"");
    }
  } catch (const std::regex_error& error) {
    node.fault(fmt::format("not a regular expression (ECMAScript): {}", error.what()));
  }
}

MetricDefinition read_definition(const Node& node) {
  MetricDefinition definition;
  const ObjectNode object(node,
                          "an object such as {\"name\": \"loss\", \"regex\": \"loss=([0-9.]+)\"}",
                          keys::k_metric_definition);
  if (const auto name = object.require("name")) {
    definition.name = name->text().value_or("");
    if (name->json().is_string() && !is_metric_name(definition.name)) {
      name->fault(
          fmt::format("\"{}\" is no metric name: use letters, digits and _.:/@-, starting "
                      "with a letter",
                      printable_line(definition.name, 60)));
    }
  }
  if (const auto regex = object.require("regex")) {
    if (auto text = regex->text(k_max_regex_bytes)) {
      check_regex(*regex, *text);
      definition.regex = *std::move(text);
    }
  }
  return definition;
}

}  // namespace

ReportFormat read_reports(const Node& node) {
  ReportFormat format;
  const auto read_preset = [&](const Node& preset) {
    const auto index = preset.one_of(names::k_presets);
    if (index) format.preset = names::k_presets[*index];
  };
  if (node.json().is_string()) {
    read_preset(node);
    return format;
  }
  const ObjectNode object(node,
                          "a preset's name, or an object such as {\"preset\": \"tqdm\", "
                          "\"metrics\": []}",
                          keys::k_reports);
  if (const auto preset = object.find("preset")) read_preset(*preset);
  if (const auto metrics = object.find("metrics")) {
    for (const Node& element : metrics->elements(k_max_metrics)) {
      format.metrics.push_back(read_definition(element));
    }
  }
  return format;
}

}  // namespace steptune::study
