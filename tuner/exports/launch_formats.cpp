// SPDX-License-Identifier: Apache-2.0
#include "tuner/exports/launch_formats.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "common/shell_quote.hpp"
#include "common/text.hpp"
#include "trial_runner/launch/command_words.hpp"

namespace steptune {
namespace {

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

bool is_identifier(std::string_view text) {
  if (text.empty() || (text.front() >= '0' && text.front() <= '9')) return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<void> check_command(const LongRun& run) {
  if (!run.argv.empty()) return {};
  return fail(ErrorKind::not_found, fmt::format("study \"{}\" has no command", run.study), "",
              "see --format json");
}

/// Returns an error if the command starts its processes by a launcher other than `wanted`.
Result<void> check_launcher(const LongRun& run, std::string_view wanted) {
  const auto launcher = launcher_in(run.argv);
  if (!launcher || *launcher == wanted) return {};
  const bool has_format = *launcher == "torchrun" || *launcher == "accelerate";
  return fail(ErrorKind::usage,
              fmt::format("study \"{}\" starts {}, which starts the processes itself", run.study,
                          *launcher),
              "", fmt::format("see --format {}", has_format ? *launcher : "args"));
}

std::vector<std::string> with_environment(const LongRun& run, std::vector<std::string> words) {
  if (run.environment.empty()) return words;
  std::vector<std::string> result{"env"};
  for (const auto& [name, value] : run.environment)
    result.push_back(fmt::format("{}={}", name, value));
  result.insert(result.end(), words.begin(), words.end());
  return result;
}

void append_program(std::vector<std::string>& words, const LongRun& run) {
  if (const auto script = python_script(run.argv)) {
    words.insert(words.end(), script->begin(), script->end());
    return;
  }
  words.emplace_back("--no_python");
  words.insert(words.end(), run.argv.begin(), run.argv.end());
}

/// Returns accelerate's name of the precision; nullopt if no parameter has a precision that
/// accelerate knows.
std::optional<std::string> mixed_precision(const Configuration& configuration) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> k_names{
      {{"fp32", "no"},
       {"float32", "no"},
       {"32", "no"},
       {"no", "no"},
       {"none", "no"},
       {"fp16", "fp16"},
       {"float16", "fp16"},
       {"16", "fp16"},
       {"16-mixed", "fp16"},
       {"bf16", "bf16"},
       {"bfloat16", "bf16"},
       {"bf16-mixed", "bf16"},
       {"fp8", "fp8"},
       {"32-true", "no"}}};
  for (const char* parameter : {"mixed_precision", "precision", "dtype", "amp"}) {
    const Value* value = configuration.find(parameter);
    if (value == nullptr) continue;
    const std::string text = to_text(*value);
    for (const auto& [name, known] : k_names) {
      if (text == name) return std::string(known);
    }
  }
  return std::nullopt;
}

std::optional<std::string> threads(const LongRun& run) {
  const auto found = run.environment.find("OMP_NUM_THREADS");
  if (found == run.environment.end() || !parse_finite(found->second)) return std::nullopt;
  return found->second;
}

/// Quotes a value for an ENV instruction.
std::string docker_quoted(std::string_view value) {
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\' || c == '$') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// Returns one output of a step in GitHub Actions. `value` may have several lines.
std::string github_value(const std::string& name, const std::string& value) {
  if (!has_control(value)) return fmt::format("{}={}\n", name, value);
  std::string end = "STEPTUNE_END";
  while (value.find(end) != std::string::npos)
    end += '_';
  return fmt::format("{}<<{}\n{}\n{}\n", name, end, value, end);
}

}  // namespace

Result<std::vector<std::string>> torchrun_words(const LongRun& run) {
  if (auto checked = check_command(run); !checked) return tl::unexpected(checked.error());
  if (auto other = check_launcher(run, "torchrun"); !other) return tl::unexpected(other.error());
  if (launcher_in(run.argv)) return with_environment(run, run.argv);
  const bool is_named = run.argv[0] == "python3" || run.argv[0] == "python";
  std::vector<std::string> words{"torchrun"};
  // If the command gives a path to Python, run torchrun's module with that Python, because
  // `torchrun` may belong to another Python.
  if (!is_named && python_script(run.argv)) words = {run.argv[0], "-m", "torch.distributed.run"};
  words.push_back(run.resources.instance_count > 1
                      ? fmt::format("--nnodes={}", run.resources.instance_count)
                      : "--standalone");
  words.emplace_back("--nproc_per_node=1");
  append_program(words, run);
  return with_environment(run, std::move(words));
}

Result<std::vector<std::string>> accelerate_words(const LongRun& run) {
  if (auto checked = check_command(run); !checked) return tl::unexpected(checked.error());
  if (auto other = check_launcher(run, "accelerate"); !other) return tl::unexpected(other.error());
  if (launcher_in(run.argv)) return with_environment(run, run.argv);
  const int machines = std::max(1, run.resources.instance_count);
  std::vector<std::string> words{"accelerate", "launch",
                                 fmt::format("--num_processes={}", machines),
                                 fmt::format("--num_machines={}", machines)};
  if (const auto precision = mixed_precision(run.configuration)) {
    words.push_back("--mixed_precision=" + *precision);
  }
  // accelerate overwrites OMP_NUM_THREADS with the value of this option.
  if (const auto count = threads(run)) words.push_back("--num_cpu_threads_per_process=" + *count);
  append_program(words, run);
  return with_environment(run, std::move(words));
}

Result<std::string> dockerfile_lines(const LongRun& run) {
  if (auto checked = check_command(run); !checked) return tl::unexpected(checked.error());
  if (auto checked = check_utf8(run); !checked) return tl::unexpected(checked.error());
  std::string lines;
  LongRun rest = run;
  rest.environment.clear();
  for (const auto& [name, value] : run.environment) {
    if (is_identifier(name) && !has_control(value)) {
      lines += fmt::format("ENV {}={}\n", name, docker_quoted(value));
    } else {
      rest.environment.emplace(name, value);
    }
  }
  return lines + fmt::format("CMD {}\n", Json(with_environment(rest, run.argv)).dump());
}

Result<std::string> github_output(const LongRun& run) {
  if (auto checked = check_utf8(run); !checked) return tl::unexpected(checked.error());
  std::string lines;
  for (const auto& [name, value] : run.configuration.values()) {
    // Skip a parameter whose name has a fixed meaning in this output. `configuration` still
    // contains it.
    if (name == "configuration" || name == "args" || name == "env") continue;
    lines += github_value(name, to_text(value));
  }
  lines += github_value("configuration", dump_json(to_json(run.configuration)));
  if (run.argv.empty()) return lines;
  lines += github_value("args", posix_quoted(run.argv));
  std::string variables;
  for (const auto& [name, value] : run.environment)
    variables += fmt::format("{}{}={}", variables.empty() ? "" : "\n", name, posix_quoted(value));
  return lines + github_value("env", variables);
}

}  // namespace steptune
