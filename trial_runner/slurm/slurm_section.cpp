// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/units.hpp"
#include "trial_runner/kind_key.hpp"
#include "trial_runner/section_limits.hpp"
#include "trial_runner/slurm/slurm_settings.hpp"

namespace steptune {
namespace {

using document::InFingerprint;
using document::Key;
using document::Section;
using document::StringTemplate;
using document::Type;
using document::Writing;
using slurm::SlurmOptions;

/// Most members of the lists `options`, `step_options` and `inherit`.
constexpr std::size_t k_most_options = 50;

/// Options that users may not set: the runner sets them itself, or loses control of trials with
/// them.
constexpr std::array<std::string_view, 23> k_own_options = {
    "job-name",      "nodes",         "ntasks",     "ntasks-per-node",
    "cpus-per-task", "exclusive",     "mem",        "time",
    "output",        "error",         "input",      "chdir",
    "parsable",      "requeue",       "no-requeue", "wrap",
    "array",         "wait",          "hold",       "test-only",
    "export",        "gpus-per-node", "clusters"};

std::optional<std::string> fault_of_option(std::string_view text) {
  if (!text.starts_with("--") || text.size() < 3) {
    return "must be one long option with its value, such as \"--switches=1\"";
  }
  text.remove_prefix(2);
  const std::string_view name = text.substr(0, text.find('='));
  if (name.find('{') != std::string_view::npos) {
    return "must name its option: placeholders are allowed only after \"=\"";
  }
  if (std::ranges::find(k_own_options, name) == k_own_options.end()) return std::nullopt;
  return fmt::format("\"--{}\" is given by the runner itself: see its other keys", name);
}

Type<StringTemplate> option_template() {
  return document::checked<StringTemplate>(
      document::string_template(),
      [](const StringTemplate& option) { return fault_of_option(option.text()); },
      {{"pattern", "^--"}});
}

/// Returns the type of variable names and of prefixes of names followed by `*`.
Type<std::string> variable_pattern() {
  static constexpr const char* k_pattern = R"(^[A-Za-z_][A-Za-z0-9_]*\*?$)";
  const auto is_wrong = [](const std::string& pattern) -> std::optional<std::string> {
    static const std::regex k_form(k_pattern);
    if (std::regex_match(pattern, k_form)) return std::nullopt;
    return "must be the name of a variable, or a beginning of names such as \"CUDA_*\"";
  };
  return document::checked<std::string>(document::string(256), is_wrong, {{"pattern", k_pattern}});
}

Type<slurm::NodePrices> node_prices() {
  const auto one = document::number({0.0, 1e6});
  const auto by_name = document::map_of(one, "a number, or an object of numbers by name", 100);
  Type<slurm::NodePrices> type;
  type.read = [one, by_name](const document::Node& node) -> std::optional<slurm::NodePrices> {
    if (!node.json().is_object()) {
      const auto usd = one.read(node);
      return usd ? std::optional(slurm::NodePrices(*usd)) : std::nullopt;
    }
    auto prices = by_name.read(node);
    if (!prices) return std::nullopt;
    return slurm::NodePrices(*std::move(prices));
  };
  type.write = [by_name](const slurm::NodePrices& prices, const Writing& writing) {
    return prices.single() ? Json(*prices.single()) : by_name.write(prices.by_name(), writing);
  };
  type.schema = [one, by_name](Json& definitions) {
    return Json{{"anyOf", {one.schema(definitions), by_name.schema(definitions)}}};
  };
  return type;
}

template <typename M, typename V>
Key<SlurmSection> run_key(std::string name, M SlurmOptions::*member, Type<V> type) {
  return document::key(std::move(name), member, std::move(type)).of(&SlurmSection::run);
}

Key<SlurmSection> option_key(const char* name, StringTemplate SlurmSection::*member,
                             const char* doc) {
  return document::key(name, member, document::string_template())
      .doc(doc)
      .omitted_at_default()
      .default_words("the cluster's");
}

void add_needs(Section<SlurmSection>& section) {
  using document::key;
  section.add(key("nodes", &SlurmSection::nodes, document::formula_or_count({1.0, k_most_machines}))
                  .doc("nodes of a trial: a number, or an expression over parameters"));
  section.add(run_key("tasks_per_node", &SlurmOptions::tasks_per_node,
                      document::formula_or_count({1.0, k_most_processes_per_machine}))
                  .doc("processes of the command on each node: a number, or with `exclusive` an "
                       "expression"));
  section.add(run_key("cpus_per_task", &SlurmOptions::cpus_per_task,
                      document::formula_or_count({1.0, slurm::k_most_cpus}))
                  .doc("processors for each task: a number, or with `exclusive` an "
                       "expression")
                  .default_words("an equal share of the node's"));
  section.add(key("gpus_per_node", &SlurmSection::gpus_per_node,
                  document::formula_or_count({0.0, slurm::k_most_gpus}))
                  .doc("GPUs on each node: a number, or an expression over parameters"));
  section.add(option_key("partition", &SlurmSection::partition,
                         "sbatch's option, a template such as `\"{partition}\"`; empty: left out"));
  section.add(option_key("account", &SlurmSection::account, "sbatch's option; a template"));
  section.add(option_key("qos", &SlurmSection::qos, "sbatch's option; a template"));
  section.add(option_key("constraint", &SlurmSection::constraint, "sbatch's option; a template"));
  section.add(option_key("gres", &SlurmSection::gres, "sbatch's option; a template"));
  section.add(option_key("reservation", &SlurmSection::reservation, "sbatch's option; a template"));
  section.add(option_key("time", &SlurmSection::time,
                         "longest allocation, as sbatch takes it: minutes, `4:00:00`, `1-12`. "
                         "No trial starts that could end later")
                  .default_words("longest of 1 h, 4 times `wall`, and a trial + `poll` + 10 min"));
  section.add(
      key("options", &SlurmSection::options, document::list_of(option_template(), k_most_options))
          .doc("further long options of sbatch, templates too")
          .omitted_at_default()
          .default_words("none"));
  section.add(run_key("step_options", &SlurmOptions::step_options,
                      document::list_of(option_template(), k_most_options))
                  .doc("further long options of srun, templates too: `--cpu-bind={bind}`")
                  .omitted_at_default()
                  .default_words("none"));
  section.add(run_key("exclusive", &SlurmOptions::exclusive, document::boolean())
                  .doc("hold whole nodes: neighbours would disturb the measurement"));
  section.add(key("memory", &SlurmSection::memory, document::string_template())
                  .doc("memory of a node: `all`, `site` for the site's default, or as "
                       "`--mem` takes it; a template"));
  section.add(run_key("setup", &SlurmOptions::setup, document::string(65'536))
                  .doc("shell text that runs on the node before the command: `module load cuda`")
                  .omitted_at_default()
                  .default_words("none"));
  section.add(
      key("inherit", &SlurmSection::inherit, document::list_of(variable_pattern(), k_most_options))
          .doc("variables of the tuner's environment that trials see, by name or beginning "
               "(`CUDA_*`), besides a few basic ones")
          .in_fingerprint(InFingerprint::unless_default)
          .default_words("all except those of Slurm and MPI"));
}

void add_patience(Section<SlurmSection>& section) {
  using document::duration_s;
  using document::key;
  section.add(
      run_key("keep_alive", &SlurmOptions::keep_alive_s, duration_s({0.0, k_day_s}))
          .doc(
              "time until an unused allocation is given back; at least 2 minutes if the tuner dies")
          .in_fingerprint(InFingerprint::never));
  section.add(run_key("poll", &SlurmOptions::poll_s, duration_s({5.0, 600.0}))
                  .doc("longest gap between job lists while a job waits; otherwise four times that")
                  .in_fingerprint(InFingerprint::never));
  section.add(run_key("queue_wait", &SlurmOptions::queue_wait_s, duration_s({1.0, 30.0 * k_day_s}))
                  .doc("longest wait of an allocation in the queue")
                  .in_fingerprint(InFingerprint::never));
  section.add(
      run_key("launch_limit", &SlurmOptions::launch_limit_s, duration_s({10.0, k_day_s}))
          .doc("longest time from `srun` to the start of all tasks; then the launch is repeated")
          .in_fingerprint(InFingerprint::never)
          .omitted_at_default()
          .default_words("5 min"));
  section.add(run_key("expected_queue_wait", &SlurmOptions::expected_wait_s,
                      duration_s({0.0, 30.0 * k_day_s}))
                  .doc("expected wait in the queue, until one wait was seen, and for `rehearse`")
                  .in_fingerprint(InFingerprint::never));
  section.add(key("folder", &SlurmSection::folder, document::path())
                  .doc("files of the runner; the nodes see it under the same path")
                  .in_fingerprint(InFingerprint::never)
                  .omitted_at_default()
                  .default_words("`.steptune/slurm` where the tuner runs"));
  section.add(
      run_key("price_per_node_hour", &SlurmOptions::usd_per_node_hour, node_prices())
          .doc(
              "USD, or USD by partition, constraint or type of GPU: `{\"a100\": 12, \"h100\": 30}`")
          .omitted_at_default()
          .default_words("none")
          .in_fingerprint(InFingerprint::where_cost_is_objective));
}

}  // namespace

const Section<SlurmSection>& slurm_section() {
  static const auto k_section = [] {
    Section<SlurmSection> section("slurm_runner", "Steps in allocations of a Slurm cluster.",
                                  "an object such as {\"type\": \"slurm\", \"nodes\": 2}");
    section.add(kind_key<SlurmSection>("slurm").required());
    section.add(run_key("parallel", &SlurmOptions::parallel,
                        document::integer({1.0, k_most_parallel_trials}))
                    .doc("trials at the same time, each on its own nodes")
                    .in_fingerprint(InFingerprint::never));
    add_needs(section);
    add_patience(section);
    return section;
  }();
  return k_section;
}

}  // namespace steptune
