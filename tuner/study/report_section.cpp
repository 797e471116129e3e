// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "tuner/study/identifiers.hpp"
#include "tuner/study/runner_section.hpp"
#include "tuner/study/study_keys.hpp"

namespace steptune::study {
namespace {

constexpr std::size_t k_max_metrics = 40;
constexpr std::size_t k_max_regex_bytes = 1000;

/// What reads the trials' output must accept the format; `node` is where it was told.
void check_format(const Node& node, const ReportFormat& format) {
  const auto reader = ReportReader::create(format);
  if (reader) return;
  const Error& error = reader.error();
  node.fault(error.hint.empty() ? error.message : error.message + "; " + error.hint);
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
      definition.regex = *std::move(text);
      check_format(
          *regex,
          {.preset = {}, .metrics = {{"metric", definition.regex}}, .samples_per_step = {}});
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
    if (!node.faults().within(metrics->pointer())) check_format(*metrics, format);
  }
  return format;
}

}  // namespace steptune::study
