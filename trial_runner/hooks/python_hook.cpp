// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/hooks/python_hook.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/enum_names.hpp"
#include "common/json.hpp"
#include "common/merged_variable.hpp"
#include "common/shipped_files.hpp"
#include "trial_runner/hooks/knob_table.hpp"

namespace steptune {
namespace {

constexpr auto k_mode_names = enum_names<HookMode>({
    {HookMode::survey, "survey"},
    {HookMode::report, "report"},
    {HookMode::apply, "apply"},
    {HookMode::live, "live"},
});

}  // namespace

std::map<std::string, std::string> hook_variables(const PythonHookRequest& request) {
  std::map<std::string, std::string> variables;
  Json json = {{"v", 1}, {"mode", k_mode_names.name_of(request.mode)}, {"knobs", Json::object()}};
  for (const auto& [name, value] : request.knobs) {
    const Knob* knob = find_python_knob(name);
    if (knob == nullptr || !knob->in_environment()) {
      json["knobs"][name] = to_json(value);
    } else if (const Json* set = find_by_value(knob->environment, value)) {
      for (const auto& [variable, text] : set->items())
        variables[variable] = with_value(text.get<std::string>(), to_text(value));
    }
  }
  if (!request.families.empty()) json["families"] = request.families;
  if (request.samples_per_step) json["samples_per_step"] = *request.samples_per_step;
  if (request.interval_s) json["interval_s"] = *request.interval_s;
  if (!request.channel.empty()) json["channel"] = request.channel.string();
  if (request.silence_s) json["silence_s"] = *request.silence_s;
  if (const auto& replay = request.replay) {
    json["replay_batches"] = {{"after_s", replay->after_s}, {"after_steps", replay->after_steps}};
  }
  if (!request.events.empty()) json["events"] = request.events.string();
  variables[k_python_hook_variable] = dump_json(json);
  return variables;
}

void set_hook_variables(const PythonHookRequest& request,
                        std::map<std::string, std::string>& environment) {
  for (const auto& [name, text] : hook_variables(request)) {
    std::string& value = environment[name];
    value = merged_variable(name, value, text);
  }
}

Result<std::filesystem::path> python_hook_folder() {
  const auto directories = shipped_directories(ShippedKind::hook);
  const auto entry = find_file(directories, "python/sitecustomize.py");
  if (entry) return entry->parent_path();
  return fail(ErrorKind::runner, "the Python hook is missing", directories_text(directories),
              "its installation is incomplete: install Steptune again");
}

std::string with_python_path(const std::filesystem::path& folder, std::string_view before) {
  return before.empty() ? folder.string() : fmt::format("{}:{}", folder.string(), before);
}

}  // namespace steptune
