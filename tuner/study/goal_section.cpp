// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "search/observation.hpp"
#include "trial_runner/reports/steptune_line.hpp"
#include "tuner/study/limits.hpp"
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

using document::Range;

constexpr Range k_any_ratio{1e-6, 1e6};

const Section<Objective>& objective_section() {
  static const auto k_section =
      Section<Objective>("objective", "An objective to minimize or maximize.",
                         "\"time\", \"cost\", a metric's name, or an object such as "
                         "{\"metric\": \"accuracy\", \"direction\": \"maximize\"}")
          .add(key("metric", &Objective::metric, metric_name())
                   .required()
                   .doc("`time`, `cost`, or a metric that trials report"))
          .add(key("direction", &Objective::direction,
                   document::enumerated({"minimize", "maximize"}))
                   .doc("`minimize` or `maximize`; time and cost can only be minimized"))
          .check([](const ObjectNode& object, const Objective& objective) {
            if (objective.direction == Direction::minimize) return;
            if (!objective.is_time() && !objective.is_cost()) return;
            object.find("direction")->fault(objective.metric + " can only be minimized");
          });
  return k_section;
}

/// Type of an objective. `"time"` is short for `{"metric": "time"}`.
Type<Objective> objective() {
  auto type = document::object(objective_section());
  type.read = [read_object = type.read,
               metric = metric_name()](const Node& node) -> std::optional<Objective> {
    if (!node.json().is_string()) return read_object(node);
    auto name = metric.read(node);
    if (!name) return std::nullopt;
    return Objective{*std::move(name), Direction::minimize};
  };
  type.schema = [of_object = type.schema](Json& definitions) {
    return Json{{"anyOf",
                 {{{"type", "string"},
                   {"description", "time, cost, or a metric that trials report, to be minimized."}},
                  of_object(definitions)}}};
  };
  return type;
}

void check_limits(const ObjectNode& object, const Guard& guard) {
  const bool limited =
      guard.max || guard.min || guard.max_ratio_to_baseline || guard.min_ratio_to_baseline;
  const bool faulty = object.node().faults().within(object.node().pointer());
  if (!limited && !faulty) {
    object.node().fault(
        "the guard has no limit: give \"max\", \"min\", \"max_ratio_to_baseline\" or "
        "\"min_ratio_to_baseline\"");
  }
  const auto check_order = [&](const auto& low, const auto& high, std::string_view name) {
    if (low && high && *low > *high) {
      object.find(name)->fault(fmt::format("no value is at least {} and at most {}", *low, *high));
    }
  };
  check_order(guard.min, guard.max, "min");
  check_order(guard.min_ratio_to_baseline, guard.max_ratio_to_baseline, "min_ratio_to_baseline");
  const bool is_upper_ratio = guard.max_ratio_to_baseline && guard.after_samples > 0.0 &&
                              !guard.max && !guard.min && !guard.min_ratio_to_baseline;
  if (guard.over_launches && !is_upper_ratio && !faulty) {
    object.find("over_launches")
        ->fault("needs \"after_samples\" and \"max_ratio_to_baseline\", and no other limit");
  }
}

}  // namespace

Type<std::string> metric_name() {
  return document::checked<std::string>(
      document::string(), [](const std::string& name) -> std::optional<std::string> {
        if (document::is_metric_name(name)) return std::nullopt;
        return fmt::format(
            "\"{}\" is not a metric name: use letters, digits and _.:/@-, starting with a letter",
            printable_line(name, 60));
      });
}

Type<std::vector<Objective>> objectives() {
  auto type = document::list_of(objective(), k_max_objectives);
  type.read = [](const Node& node) {
    std::vector<Objective> objectives;
    for (const Node& element : node.elements(k_max_objectives)) {
      auto read = objective().read(element);
      if (!read || read->metric.empty()) continue;
      if (std::ranges::find(objectives, read->metric, &Objective::metric) != objectives.end()) {
        element.fault(fmt::format("the objective \"{}\" appears twice", read->metric));
      }
      objectives.push_back(*std::move(read));
    }
    if (node.json().is_array() && node.json().empty()) {
      node.fault(
          "the list is empty: name \"time\", \"cost\" or a metric, or remove the key: the "
          "objective is then \"time\"");
    }
    return std::optional(std::move(objectives));
  };
  return with_schema_members(std::move(type), Json{{"minItems", 1}});
}

const Section<Guard>& guard_section() {
  static const auto k_section =
      Section<Guard>("guard", "A limit that a winner must respect.",
                     "an object such as {\"metric\": \"loss\", \"max\": 4.0}")
          .add(key("metric", &Guard::metric, metric_name())
                   .required()
                   .doc("a metric that trials report"))
          .add(key("after_samples", &Guard::after_samples, document::number({0.0, k_max_count}))
                   .doc("samples that a trial must process before the check"))
          .add(key("max", &Guard::max, document::number(k_any_number)).doc("upper limit"))
          .add(key("min", &Guard::min, document::number(k_any_number)).doc("lower limit"))
          .add(key("max_ratio_to_baseline", &Guard::max_ratio_to_baseline,
                   document::number(k_any_ratio))
                   .doc("upper limit relative to the baseline's value at the same point: 1.02 "
                        "allows 5.1 for 5, -4.9 for -5"))
          .add(key("min_ratio_to_baseline", &Guard::min_ratio_to_baseline,
                   document::number(k_any_ratio))
                   .doc("lower limit relative to the baseline's value at the same point: 0.98 "
                        "allows 4.9 for 5, -5.1 for -5"))
          .add(key("over_launches", &Guard::over_launches, document::boolean())
                   .omitted_at_default()
                   .written_by_steptune()
                   .in_fingerprint(InFingerprint::unless_default)
                   .doc("with `measure.confirm_all`: compare the means of all launches at the end; "
                        "[`steptune judge`](judge.md#the-loss) sets it"))
          .check(check_limits)
          .also_in_schema({{"anyOf",
                            {{{"required", {"max"}}},
                             {{"required", {"min"}}},
                             {{"required", {"max_ratio_to_baseline"}}},
                             {{"required", {"min_ratio_to_baseline"}}}}}});
  return k_section;
}

const Section<PlannedPhase>& planned_phase_section() {
  static const auto k_section =
      Section<PlannedPhase>("planned_phase", "A pause between steps of the long run.",
                            "an object such as {\"every_steps\": 200}")
          .add(key("every_samples", &PlannedPhase::every_samples,
                   document::number({1.0, k_max_count}))
                   .doc("samples between two such phases"))
          .add(key("every_steps", &PlannedPhase::every_steps, document::number({1.0, k_max_count}))
                   .doc("optimizer steps between two such phases, in place of `every_samples`"))
          .add(key("seconds", &PlannedPhase::seconds, document::duration_s({0.0, 1e7}))
                   .doc("duration of the phase, if no trial has shown it"))
          .check([](const ObjectNode& object, const PlannedPhase& phase) {
            if (object.node().faults().within(object.node().pointer())) return;
            if (phase.every_samples.has_value() != phase.every_steps.has_value()) return;
            object.node().fault("give either \"every_samples\" or \"every_steps\"");
          })
          .also_in_schema(
              {{"oneOf", {{{"required", {"every_samples"}}}, {{"required", {"every_steps"}}}}}});
  return k_section;
}

const Section<PlannedRun>& planned_run_section() {
  static const auto k_section =
      Section<PlannedRun>("planned_run", "The long run that the tuning is for.",
                          "an object such as {\"samples\": 1.3e9, \"batch_size\": \"batch_size\"}")
          .add(key("samples", &PlannedRun::samples, document::number({1.0, k_max_count}))
                   .doc("samples to process in all"))
          .add(key("batch_size", &PlannedRun::batch_size, document::formula_or_integer({1.0, 1e12}))
                   .doc("samples per optimizer step: a number, or an expression such as "
                        "`batch_size * accumulation`"))
          .add(key("phases", &PlannedRun::phases,
                   document::map_of(document::object(planned_phase_section()),
                                    "an object of phases by name", k_max_elements))
                   // Fingerprint and stored document contain this key only if the study file does.
                   // So studies from before this key existed keep both.
                   .in_fingerprint(InFingerprint::unless_default)
                   .omitted_at_default()
                   .anchor("planned_phase")
                   .doc("evaluations, checkpoints and the like, by reported name"))
          // Deadline and price limit change no measurement, so another value does not make another
          // study.
          .add(key("deadline", &PlannedRun::deadline_s, document::duration_s({1.0, 1e9}))
                   .in_fingerprint(InFingerprint::never)
                   .doc("longest planned run; slower configurations are infeasible"))
          .add(key("max_cost", &PlannedRun::max_cost_usd, document::number({0.0, 1e9}))
                   .in_fingerprint(InFingerprint::never)
                   .doc("highest price of the planned run in USD; dearer configurations are "
                        "infeasible"))
          .check([](const ObjectNode& object, const PlannedRun& run) {
            if (run.samples) return;
            for (const std::string_view name : {"deadline", "max_cost"}) {
              if (const auto node = object.find(name)) {
                node->fault("this limit needs the length of the run: give \"samples\"");
              }
            }
          });
  return k_section;
}

}  // namespace steptune::study

namespace steptune {

bool is_memory_guard(const Guard& guard) {
  return guard.metric == "peak_memory_bytes";
}

std::string judged_metric(const Guard& guard) {
  if (is_memory_guard(guard) || !(guard.after_samples > 0.0)) return guard.metric;
  return fmt::format("{}@{:.0f}", guard.metric, guard.after_samples);
}

double multiple_of_baseline(double ratio, double baseline) {
  return baseline < 0.0 ? 2.0 - ratio : ratio;
}

}  // namespace steptune
