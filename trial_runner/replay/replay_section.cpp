// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/replay/replay_section.hpp"

#include "trial_runner/instances/instance_keys.hpp"
#include "trial_runner/kind_key.hpp"
#include "trial_runner/longest_trial.hpp"
#include "trial_runner/section_limits.hpp"

namespace steptune {
namespace {

using document::Key;
using document::ObjectNode;
using document::Section;

/// Price list for replayed machines: the only list with installed tables.
constexpr const char* k_replayed_prices = "sagemaker";

/// Returns the key `instances`. It is not written if rented instances determine the number of
/// machines.
Key<ReplaySection> counted_machines_key() {
  const Key<FixedPrice> plain = machines_key();
  Key<ReplaySection> key(
      plain.traits().name,
      [plain](const document::Node& node, ReplaySection& out) { plain.read(node, out.price); },
      [plain](const ReplaySection& section,
              const document::Writing& writing) -> std::optional<Json> {
        if (!section.instances.groups.empty()) return std::nullopt;
        return plain.write(section.price, writing);
      },
      [](Json&) {
        return Json{{"type", "number"}, {"minimum", 1}};
      });
  key.doc(plain.traits().doc);
  return key;
}

void check_model(const ObjectNode& object) {
  const bool table = object.has("table");
  const auto model = object.find("seconds_per_sample");
  if (const auto column = object.find("objective_column"); column && !table) {
    column->fault("names a column of a table, but no \"table\" is given");
  }
  if (model && table) model->fault("give either \"table\" or \"seconds_per_sample\", not both");
  if (!model && !table) {
    object.node().fault(
        "give \"table\", a recorded table's JSON file, or \"seconds_per_sample\", an "
        "expression over parameters");
  }
}

void check_price(const ObjectNode& object, const ReplaySection& section) {
  const bool rents = !section.instances.groups.empty();
  for (const char* key : {"price_per_hour", "instances"}) {
    if (!rents || !object.has(key)) continue;
    object.find(key)->fault("the instances and their prices are given already; remove this key");
  }
  for (const char* key : {"prices", "price_table"}) {
    if (rents || !object.has(key)) continue;
    object.find(key)->fault("prices instances, but no \"instance_type\" is given");
  }
}

Section<ReplaySection> make_replay_section() {
  using document::key;
  Section<ReplaySection> section(
      "replay_runner", "Recorded or modelled step times under a virtual clock.", "an object");
  section.add(kind_key<ReplaySection>("replay").required());
  section.add(counted_machines_key());
  section.add(
      key("parallel", &ReplaySection::parallel, document::integer({1.0, k_most_parallel_trials}))
          .doc("trials at the same time"));
  for (const Key<RentedInstances>& each : instance_keys())
    section.add(each.of(&ReplaySection::instances));
  section.add(price_per_hour_key().of(&ReplaySection::price));
  section.add(
      Key<ReplaySection>(
          "table",
          [type = document::path()](const document::Node& node, ReplaySection& out) {
            out.table = type.read(node).value_or(std::filesystem::path{});
          },
          [type = document::path()](const ReplaySection& read, const document::Writing& writing) {
            return read.table.empty() ? std::nullopt
                                      : std::optional(type.write(read.table, writing));
          },
          document::path().schema)
          .doc("JSON file of a recorded table, relative to the study file, in place of "
               "`seconds_per_sample`"));
  section.add(key("objective_column", &ReplaySection::objective_column, document::string(200))
                  .doc("column of the table with seconds per sample")
                  .default_words("the table's own"));
  section.add(key("seconds_per_sample", &ReplaySection::seconds_per_sample,
                  document::formula_or_number({1e-12, 1e9}))
                  .doc("a model: a number or an expression over parameters, positive everywhere"));
  section.add(
      key("startup", &ReplaySection::startup_s, document::duration_s({0.0, k_longest_trial_s}))
          .doc("process start to first step"));
  section.add(key("noise", &ReplaySection::noise, document::number({0.0, 10.0}))
                  .doc("relative standard deviation of a step"));
  section.add(
      key("launch_variation", &ReplaySection::launch_variation, document::number({0.0, 1.0}))
          .doc("relative standard deviation from launch to launch")
          .omitted_at_default());
  section.check([](const ObjectNode& object, ReplaySection& read) {
    check_model(object);
    read.instances.price_list = k_replayed_prices;
    check_instance_keys(object, read.instances);
    check_price(object, read);
  });
  return section;
}

}  // namespace

const Section<ReplaySection>& replay_section() {
  static const auto k_section = make_replay_section();
  return k_section;
}

}  // namespace steptune
