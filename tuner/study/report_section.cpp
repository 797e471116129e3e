// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "common/document/formula.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "trial_runner/reports/steptune_line.hpp"
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

/// Adds a fault if the reader of the trials' output does not accept the format. `node`: place of
/// the format.
void check_format(const Node& node, const ReportFormat& format) {
  const auto reader = ReportReader::create(format);
  if (!reader) node.fault(reader.error());
}

Type<std::string> preset() {
  const auto names = preset_names();
  return document::one_of({names.begin(), names.end()});
}

/// Type of a valid regular expression.
Type<std::string> regex() {
  auto type = document::string(document::k_max_expression_bytes);
  type.read = [](const Node& node) {
    auto text = node.string(document::k_max_expression_bytes);
    if (text) {
      check_format(node, {.preset = {}, .metrics = {{"metric", *text}}, .samples_per_step = {}});
    }
    return text;
  };
  type.schema = [](Json&) {
    return Json{{"type", "string"}, {"maxLength", document::k_max_expression_bytes}};
  };
  return type;
}

const Section<MetricDefinition>& metric_section() {
  static const auto k_section =
      Section<MetricDefinition>(
          "metric_definition", "A metric in the program's output.",
          "an object such as {\"name\": \"loss\", \"regex\": \"loss=([0-9.]+)\"}")
          .add(key("name", &MetricDefinition::name, metric_name())
                   .required()
                   .doc("the metric; `step`, `samples` and `clock` are the counters that times are "
                        "computed from"))
          .add(key("regex", &MetricDefinition::regex, regex())
                   .required()
                   .doc("RE2; its first group is the number: `loss=([0-9.]+)`"));
  return k_section;
}

}  // namespace

const Section<ReportFormat>& reports_section() {
  static const auto k_section =
      Section<ReportFormat>("reports", "",
                            "a preset's name, or an object such as {\"preset\": \"tqdm\", "
                            "\"metrics\": []}")
          .add(key("metrics", &ReportFormat::metrics,
                   document::list_of(document::object(metric_section()), k_max_metrics))
                   .doc("metrics that regular expressions read, besides the preset"))
          .add(key("preset", &ReportFormat::preset, preset())
                   .doc("`tqdm`, `keras`, `hf-trainer`, `lightning` or `key=value`"))
          .check([](const ObjectNode& object, const ReportFormat& format) {
            const auto metrics = object.find("metrics");
            const Node& node = object.node();
            if (metrics && !node.faults().within(metrics->pointer())) {
              check_format(*metrics, format);
            }
          });
  return k_section;
}

Type<ReportFormat> reports() {
  auto type = document::object(reports_section());
  type.read = [read_object = type.read](const Node& node) -> std::optional<ReportFormat> {
    if (!node.json().is_string()) return read_object(node);
    ReportFormat format;
    format.preset = preset().read(node);
    return format;
  };
  type.schema = [of_object = type.schema](Json& definitions) {
    return Json{{"anyOf", {preset().schema(definitions), of_object(definitions)}}};
  };
  return type;
}

}  // namespace steptune::study
