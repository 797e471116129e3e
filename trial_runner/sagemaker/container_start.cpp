// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/container_start.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "common/shell_quote.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "trial_runner/sagemaker/request_pieces.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"
#include "trial_runner/sagemaker/shell_texts.hpp"

namespace steptune {
namespace {

// Names of variables whose code evaluates the pieces of a script. The pieces are in variables with
// the suffixes `_1` and so on.
constexpr const char* k_hook_variable = "STEPTUNE_HOOK";
constexpr const char* k_files_variable = "STEPTUNE_FILES";
/// Names of the hyperparameters with the pieces of the packed files. Their alphabetical order is
/// the order of the pieces.
constexpr const char* k_piece = "steptune-hook-{:03}";
constexpr const char* k_rendezvous_variable = "STEPTUNE_RENDEZVOUS";
/// Shell code that reads the job's machines. Every container has this file; the training toolkit
/// makes SM_HOSTS and SM_CURRENT_HOST from it, too.
constexpr const char* k_read_machines =
    "r=$(tr -d ' \\n' </opt/ml/input/config/resourceconfig.json) && eval \"$STEPTUNE_RENDEZVOUS\" "
    "&& ";
/// Shell code that sets the rendezvous. torchrun reads options that its command line lacks from
/// PET_ variables. The training toolkit uses the same port; it is free, because each container has
/// its own ports.
constexpr const char* k_rendezvous =
    "h=${r#*'\"current_host\":\"'} h=${h%%'\"'*}\n"
    "a=${r#*'\"hosts\":['} a=${a%%]*}\n"
    "n=0 i=$IFS IFS=,\n"
    "for x in $a; do x=${x#'\"'} x=${x%'\"'}; [ $n = 0 ] && PET_MASTER_ADDR=$x;"
    " [ \"$x\" = \"$h\" ] && PET_NODE_RANK=$n; n=$((n + 1)); done\n"
    "IFS=$i\n"
    "export PET_MASTER_ADDR PET_NODE_RANK PET_MASTER_PORT=7777";

std::string python_of(const std::vector<std::string>& argv) {
  if (argv.empty()) return {};
  const std::string name = std::filesystem::path(argv.front()).filename().string();
  return name.starts_with("python") ? argv.front() : "";
}

/// Stores a script in variables. Code that evaluates the variable `name` runs the script.
void put_evaluated(std::string_view script, const char* name,
                   std::map<std::string, std::string>& environment) {
  std::string evaluated = put_script(script, name, environment);
  environment.emplace(name, std::move(evaluated));
}

/// Returns shell code that writes the files at their paths; empty without files.
std::string carry_files(const std::map<std::string, std::string>& files,
                        std::map<std::string, std::string>& environment) {
  if (files.empty()) return {};
  std::string script;
  for (const auto& [path, text] : files) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    script += fmt::format("mkdir -p {} && printf %s {} >{} || exit\n", posix_quoted(folder),
                          posix_quoted(text), posix_quoted(path));
  }
  put_evaluated(script, k_files_variable, environment);
  return fmt::format("eval \"${}\";", k_files_variable);
}

}  // namespace

std::map<std::string, std::string> hyperparameters_of(const Configuration& configuration) {
  std::map<std::string, std::string> parameters;
  for (const auto& [name, value] : configuration.values())
    parameters[name] = to_text(value);
  return parameters;
}

void add_carried_hook(std::string_view packed, const std::vector<std::string>& argv,
                      const std::map<std::string, std::string>& exported, ContainerStart& start) {
  int number = 0;
  for (std::string& piece : pieces_of(packed, k_longest_hyperparameter)) {
    start.hyperparameters.emplace(fmt::format(fmt::runtime(k_piece), ++number), std::move(piece));
  }
  std::string script = fmt::format("steptune_python={}\n{}", posix_quoted(python_of(argv)),
                                   without_comments(unpack_hook_text()));
  for (const auto& [name, value] : exported)
    script += fmt::format("export {}={}\n", name, posix_quoted(value));
  put_evaluated(script, k_hook_variable, start.environment);
}

ContainerStart entry_point(const std::vector<std::string>& argv, bool in_code_channel,
                           const std::optional<Launch>& launch, bool enters_hook,
                           const std::map<std::string, std::string>& files) {
  ContainerStart entry{argv};
  if (argv.empty()) return entry;
  std::string script(enters_hook ? k_enter_hook : "");
  script += carry_files(files, entry.environment);
  if (launch && launch->nodes > 1) {
    script += k_read_machines;
    entry.environment.emplace(k_rendezvous_variable, k_rendezvous);
  }
  if (in_code_channel) script += "cd /opt/ml/input/data/code && ";
  if (script.empty()) return entry;
  // "$@" passes the words to the program unchanged.
  entry.words = {"/bin/sh", "-c", script + "exec \"$@\"", "steptune"};
  entry.words.insert(entry.words.end(), argv.begin(), argv.end());
  return entry;
}

ContainerStart container_start(const ContainerProgram& program) {
  ContainerStart start = entry_point(program.argv, program.in_code_channel, program.launch,
                                     program.hook.has_value(), program.files);
  start.hyperparameters = hyperparameters_of(program.configuration);
  for (const auto& [name, value] : program.environment)
    start.environment.insert_or_assign(name, value);
  if (!program.hook) return start;
  std::map<std::string, std::string> exported;
  exported.insert(start.environment.extract(k_python_hook_variable));
  add_carried_hook(*program.hook, program.argv, exported, start);
  return start;
}

}  // namespace steptune
