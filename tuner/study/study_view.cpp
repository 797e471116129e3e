// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/study_view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/document/identifiers.hpp"
#include "common/rng.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "tuner/study/config_files.hpp"

namespace steptune::study {
namespace {

using document::identifiers_in;

/// Returns all combinations of the parameters in `names`. Ignores constraints that mention other
/// parameters. Returns nullopt if there are more than `most`.
std::optional<std::vector<Configuration>> combinations_of(const StudySpec& study,
                                                          std::set<std::string> names,
                                                          std::uint64_t most) {
  std::vector<Parameter> deciding;
  const auto& parameters = study.space.parameters();
  for (const Parameter& parameter : std::views::reverse(parameters)) {
    if (!names.contains(parameter.name)) continue;
    deciding.push_back(parameter);
    for (std::string& name : identifiers_in(parameter.when.value_or("")))
      names.insert(std::move(name));
  }
  if (deciding.empty()) return std::vector{study.baseline};
  std::reverse(deciding.begin(), deciding.end());
  std::vector<std::string> constraints;
  for (const std::string& constraint : study.space.constraints()) {
    const bool decided =
        std::ranges::all_of(identifiers_in(constraint), [&](const std::string& name) {
          return names.contains(name) || study.space.find(name) == nullptr;
        });
    if (decided) constraints.push_back(constraint);
  }
  const auto space = SearchSpace::create(std::move(deciding), constraints, study.facts);
  if (!space) return std::nullopt;
  return space->enumerate(most);
}

/// Returns an example trial for the runner's checks. `hook_folder`: empty if the study has no hook.
TrialSpec trial_of(const StudySpec& study, const std::filesystem::path& hook_folder,
                   const Configuration& configuration) {
  RenderedCommand command = render_command(study, configuration, trial_config_paths(study, {}));
  TrialSpec trial;
  if (!study.runner->traits().sees_files) trial.files = carried_config_files(study, configuration);
  trial.configuration = configuration;
  trial.argv = std::move(command.argv);
  trial.launch = std::move(command.launch);
  trial.environment = std::move(command.environment);
  trial.python_path = hook_folder;
  if (command.hook) set_hook_variables(*command.hook, trial.environment);
  return trial;
}

}  // namespace

std::vector<Configuration> example_configurations(const StudySpec& study) {
  constexpr std::uint64_t k_all = 1000;
  constexpr std::size_t k_some = 200;
  constexpr std::uint64_t k_examined = 40'000;  // most points that are drawn, and that are listed
  const SearchSpace& space = study.space;
  std::vector<Configuration> configurations = {study.baseline};
  if (auto all = space.enumerate(k_all)) {
    configurations.insert(configurations.end(), all->begin(), all->end());
    return configurations;
  }
  Rng rng(0, "study-examples");
  for (std::uint64_t i = 0; i < k_examined && configurations.size() <= k_some; ++i) {
    if (const auto point = space.draw(rng)) configurations.push_back(space.decode(*point));
  }
  if (configurations.size() > k_some) return configurations;
  // The constraints leave few configurations. Draws may miss most of them, so list the space.
  const auto rows = space.enumerate_points(k_examined).value_or(std::vector<double>{});
  const std::size_t width = space.parameters().size();
  const std::size_t listed = rows.size() / width;
  const std::size_t count = std::min(listed, k_some);
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = rows.begin() + static_cast<std::ptrdiff_t>(i * listed / count * width);
    configurations.push_back(space.decode(Point(row, row + static_cast<std::ptrdiff_t>(width))));
  }
  return configurations;
}

StudyView view_of(const StudySpec& study, std::span<const Configuration> examples) {
  std::filesystem::path hook_folder;
  if (study.hooks.python) hook_folder = python_hook_folder().value_or(std::filesystem::path());
  return {study.baseline, examples,
          [&study](std::set<std::string> names, std::uint64_t most) {
            return combinations_of(study, std::move(names), most);
          },
          [&study, hook_folder = std::move(hook_folder)](const Configuration& configuration) {
            return trial_of(study, hook_folder, configuration);
          }};
}

}  // namespace steptune::study
