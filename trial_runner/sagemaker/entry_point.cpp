// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/entry_point.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "common/shell_quote.hpp"
#include "trial_runner/sagemaker/carried_hook.hpp"
#include "trial_runner/sagemaker/request_pieces.hpp"

namespace steptune {
namespace {

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

/// Name of the variable whose code evaluates the pieces of the script. The pieces are in variables
/// with the suffixes `_1` and so on.
constexpr const char* k_files_variable = "STEPTUNE_FILES";

/// Returns shell code that writes the files; empty if there are none.
std::string carry_files(const std::map<std::string, std::string>& files,
                        std::map<std::string, std::string>& environment) {
  if (files.empty()) return {};
  std::string script;
  for (const auto& [path, text] : files) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    script += fmt::format("mkdir -p {} && printf %s {} >{} || exit\n", posix_quoted(folder),
                          posix_quoted(text), posix_quoted(path));
  }
  std::string evaluated = put_script(script, k_files_variable, environment);
  environment.emplace(k_files_variable, std::move(evaluated));
  return fmt::format("eval \"${}\";", k_files_variable);
}

}  // namespace

EntryPoint entry_point(const std::vector<std::string>& argv, bool in_code_channel,
                       const std::optional<Launch>& launch, bool enters_hook,
                       const std::map<std::string, std::string>& files) {
  EntryPoint entry{argv, {}};
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

}  // namespace steptune
