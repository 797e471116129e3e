// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/launch_preparation.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/machine/memory.hpp"
#include "common/machine/page_cache.hpp"
#include "common/merged_variable.hpp"
#include "common/units.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "trial_runner/hooks/python_path.hpp"
#include "trial_runner/launch/command_words.hpp"
#include "trial_runner/launch/compile_cache.hpp"
#include "trial_runner/launch/launch_words.hpp"
#include "trial_runner/launch/outer_ranks.hpp"
#include "trial_runner/launch/rank_cpus.hpp"
#include "trial_runner/local/local_runner.hpp"
#include "trial_runner/local/process_tags.hpp"
#include "trial_runner/trial_name.hpp"

namespace steptune::local {
namespace {

/// Returns `spec` with a command that binds each process to a part of the slot's CPUs. Returns it
/// unchanged if the study binds the processes.
TrialSpec with_bound_processes(TrialSpec spec, const Slot& slot, const Environment& environment,
                               std::map<std::string, std::string>& placed) {
  if (!spec.launch) return spec;
  const std::string parts = rank_cpus(slot.cpus, spec.launch->processes_per_node);
  const LauncherSupport* support = find_launcher(local_launchers(), spec.launch->with);
  if (parts.empty() || support == nullptr ||
      binds_processes(*spec.launch, spec.argv, environment)) {
    return spec;
  }
  if (auto words = bound_words(*spec.launch, *support, spec.argv, parts)) {
    spec.argv = *std::move(words);
    placed[k_rank_cpus_placement] = parts;
  }
  return spec;
}

}  // namespace

std::optional<ForkedStartRequest> fork_request(const Launching& launching) {
  const TrialSpec& spec = launching.spec;
  if (!spec.forked_modules || spec.launch || spec.python_path.empty()) return std::nullopt;
  // A forked process has the streams of its fork server, so it cannot have its own terminal or
  // input.
  if (spec.terminal || !spec.standard_input.empty()) return std::nullopt;
  ForkedStartRequest request;
  request.key = spec.key;
  request.argv = spec.argv;
  request.modules = *spec.forked_modules;
  request.traits = {spec.argv.front(), launching.environment, spec.working_directory,
                    launching.slot.cpus};
  // These two variables differ between trials. Set them only in the forked process: no library
  // reads them while it is imported.
  for (const std::string_view name : {std::string_view(k_python_hook_variable), k_trial_variable}) {
    auto variable = request.traits.environment.extract(std::string(name));
    if (variable) request.variables.insert(std::move(variable));
  }
  if (!spec.log_path.empty()) request.log = spec.log_path.parent_path() / "fork-server.log";
  return request;
}

LaunchPreparation::LaunchPreparation(std::string run_tag, Environment environment)
    : run_tag_(std::move(run_tag)), environment_(std::move(environment)) {}

Result<Launching> LaunchPreparation::prepare(const TrialSpec& spec, const Slot& slot) {
  auto reader = ReportReader::create(spec.report_format);
  if (!reader) return tl::unexpected(reader.error());
  auto log = LogFile::create(spec.log_path, spec.limits.log_bytes);
  if (!log) return tl::unexpected(log.error());
  Environment environment = own_environment(spec);
  auto placed = apply_slot(slot, spec, environment);
  TrialSpec bound = with_bound_processes(spec, slot, environment, placed);
  const std::vector<std::string> tags{run_tag_entry(run_tag_), trial_tag_entry(spec.key)};
  for (const std::string& tag : tags) {
    const std::size_t equals = tag.find('=');
    environment.insert_or_assign(tag.substr(0, equals), tag.substr(equals + 1));
  }
  if (!spec.data.empty()) prepare_page_cache(spec, placed);
  if (spec.interleaved_round > 0) {
    placed[k_interleaved_fact] = std::to_string(spec.interleaved_round);
  }
  std::filesystem::path temporary = temporary_folder(environment);
  return Launching{std::move(bound),
                   slot,
                   std::move(environment),
                   std::move(placed),
                   tags,
                   *std::move(reader),
                   *std::move(log),
                   Leftovers(SystemClock{}.wall_time_s(), std::move(temporary))};
}

Environment LaunchPreparation::own_environment(const TrialSpec& spec) const {
  Environment environment = environment_;
  if (spec.launch || launcher_in(spec.argv)) forget_outer_ranks(environment);
  for (const auto& [name, value] : spec.environment) {
    std::string& own = environment[name];
    own = merged_variable(name, own, value);
  }
  environment.try_emplace("PYTHONUNBUFFERED", "1");
  if (!spec.log_path.empty()) {
    const auto cache = spec.log_path.parent_path() / k_compile_cache_folder;
    environment.try_emplace(k_compile_cache_variable, cache.string());
  }
  if (!spec.python_path.empty()) {
    std::string& path = environment[k_python_path];
    path = with_python_path(spec.python_path, path);
  }
  return environment;
}

void LaunchPreparation::prepare_page_cache(const TrialSpec& spec,
                                           std::map<std::string, std::string>& placed) {
  if (spec.page_cache == PageCache::automatic && !data_fits_) {
    data_fits_ = find_data_files(spec.data).bytes <= usable_memory_bytes(SystemFiles{});
  }
  const bool cold = spec.page_cache == PageCache::cold ||
                    (spec.page_cache == PageCache::automatic && !*data_fits_);
  placed[k_page_cache_placement] = cold ? k_cold_cache : k_warm_cache;
  if (!cold) return;
  const DataFiles dropped = drop_cached_pages(spec.data);
  placed[k_data_bytes_placement] = fmt::format("{:.0f}", dropped.bytes);
  placed[k_dropped_placement] =
      fmt::format("{} file{} of {:.1f} MiB", dropped.files, dropped.files == 1 ? "" : "s",
                  dropped.bytes / k_mib_bytes);
  if (!dropped.fault.empty()) placed[k_not_dropped_placement] = dropped.fault;
}

}  // namespace steptune::local
