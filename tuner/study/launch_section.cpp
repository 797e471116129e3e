// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "trial_runner/section_limits.hpp"
#include "tuner/study/sections.hpp"
#include "tuner/study/study_scope.hpp"

namespace steptune::study {
namespace {

using document::Formula;

constexpr std::size_t k_most_launcher_options = 100;

/// Type of a count: a number, an expression, or an expression in braces, as templates write a
/// parameter.
Type<Formula> count(document::Range range) {
  Type<Formula> type = document::formula_or_count(range);
  type.read = [read = type.read](const Node& node) -> std::optional<Formula> {
    const auto* text = node.json().get_ptr<const std::string*>();
    const bool braced =
        text != nullptr && text->size() > 2 && text->starts_with('{') && text->ends_with('}');
    if (!braced) return read(node);
    const Json inner = text->substr(1, text->size() - 2);
    return read(Node(inner, node.pointer(), node.reading()));
  };
  return type;
}

}  // namespace

const Section<LaunchSpec>& launch_section() {
  static const auto k_section = [] {
    const std::vector<std::string> names(std::begin(k_launcher_names), std::end(k_launcher_names));
    return Section<LaunchSpec>("launch",
                               "The processes of a distributed program. See docs/distributed.md.",
                               "an object such as {\"processes_per_node\": 2, \"with\": "
                               "\"torchrun\"}")
        .add(key("with", &LaunchSpec::with, document::enumerated(names))
                 .doc("the launcher: `torchrun` (of the command's own Python), `mpi` "
                      "(`mpirun`; on clusters srun) or `srun`"))
        .add(key("nodes", &LaunchSpec::nodes, count({1.0, k_most_machines}))
                 .omitted_at_default()
                 .default_words("the runner's")
                 .doc("machines of a trial: a number, or an expression such as `\"{nodes}\"`"))
        .add(key("processes_per_node", &LaunchSpec::processes_per_node,
                 count({1.0, k_most_processes_per_machine}))
                 .doc("processes on each machine: a number, or an expression such as "
                      "`\"{gpus}\"`"))
        .add(key("options", &LaunchSpec::options,
                 document::list_of(template_with_files(), k_most_launcher_options))
                 .omitted_at_default()
                 .default_words("none")
                 .doc("further arguments for the launcher, as templates; empty ones are left out"));
  }();
  return k_section;
}

}  // namespace steptune::study
