// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/step_script.hpp"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "common/exit_status.hpp"
#include "common/shell_quote.hpp"
#include "common/text.hpp"
#include "trial_runner/launch/outer_ranks.hpp"
#include "trial_runner/trial_name.hpp"

namespace steptune::slurm {
namespace {

/// Longest script: Linux's MAX_ARG_STRLEN without its NUL.
constexpr std::size_t k_most_script_bytes = 131'071;
constexpr char k_mark = '\x1e';
constexpr std::string_view k_end_of_mark = ";";
/// Word in the mark of an exit that means: the task had received SIGTERM.
constexpr std::string_view k_sigterm_mark = "sigterm";

bool was_ended(int status) {
  return status == k_sigterm_status || status == k_sigkill_status;
}

constexpr const char* k_ranks =
    "export RANK=\"$SLURM_PROCID\" WORLD_SIZE=\"$SLURM_STEP_NUM_TASKS\" "
    "LOCAL_RANK=\"$SLURM_LOCALID\" GROUP_RANK=\"$SLURM_NODEID\"\n";

/// Shell code that reports the node's kernel and CPU model, once for each node. Uses only shell
/// builtins. Reads only the first CPU of /proc/cpuinfo, because the file is long and the shell
/// reads it byte by byte.
constexpr const char* k_node =
    "[ \"${SLURM_LOCALID:-0}\" != 0 ] || (\n"
    "kernel= cpu=\n"
    "{ read -r kernel </proc/sys/kernel/osrelease\n"
    "while IFS=: read -r key text && [ -n \"$key\" ]; do\n"
    "case $key in \"model name\"*) cpu=$text; break;; esac\n"
    "done </proc/cpuinfo; } 2>/dev/null\n"
    "[ -z \"$kernel\" ] || m node \"$SLURM_PROCID $kernel$cpu\")\n";

/// Shell code that sets variables. torchrun takes options from them that its command line lacks.
/// Slurm numbers the nodes; the first node is the rendezvous. torchrun's own rendezvous (c10d) is
/// not used for two reasons. It would number nodes as they arrive. It would also announce the first
/// node's host name, which other nodes may be unable to resolve.
constexpr const char* k_rendezvous =
    "export PET_NODE_RANK=\"$SLURM_NODEID\" PET_MASTER_ADDR={} PET_MASTER_PORT={}\n";

bool is_torchrun(const TrialSpec& spec) {
  return spec.launch && spec.launch->with == Launcher::torchrun;
}

/// Returns the shell code that marks the start and end of a task. Each mark is one write below
/// PIPE_BUF. Slurm may still split a mark at its message limits and mix it with other tasks'
/// output. So each mark is written twice, and incomplete marks are ignored.
std::string marking_lines(const std::string& mark_word) {
  return fmt::format(
      "m() {{ printf '\\036steptune {0} %s %s ;\\n\\036steptune {0} %s %s ;\\n'"
      " \"$1\" \"$2\" \"$1\" \"$2\"; }}\n"
      // The node's mark comes before the start mark, because the start event contains the node's
      // data.
      "{1}"
      "m start \"$SLURM_PROCID ${{SLURMD_NODENAME:-?}} $SLURM_JOB_ID.$SLURM_STEP_ID\"\n"
      "sigterm=\n"
      "trap 'sigterm=\" sigterm\"' TERM\n"
      "trap : INT\n"
      // After a signal to the step, the command may end before this shell gets the signal, so wait.
      "trap 's=$?; [ \"$s\" = 0 ] || sleep 0.2; printf \"\\n\"; m exit \"$SLURM_PROCID "
      "$s$sigterm\"; "
      "exit \"$s\"' EXIT\n",
      mark_word, k_node);
}

/// Returns the shell code that sets ranks and the rendezvous, by which the processes of a launch
/// find each other.
std::string rank_lines(const TrialSpec& spec, const StepScript& script) {
  std::string text;
  if (spec.launch) {
    // Unset rank variables, which the tuner's environment may contain and srun passes on.
    text += "unset";
    for (const std::string_view name : rank_variables())
      text += fmt::format(" {}", name);
    text += '\n';
  }
  if (script.tasks > 1) {
    text += k_ranks;
    text += fmt::format("export LOCAL_WORLD_SIZE={} MASTER_ADDR={} MASTER_PORT={}\n",
                        script.tasks / std::max(1, script.nodes), posix_quoted(script.head_host),
                        script.port);
  }
  if (is_torchrun(spec)) {
    text += fmt::format(k_rendezvous, posix_quoted(script.head_host), script.port);
  }
  return text;
}

Result<std::string> environment_lines(const TrialSpec& spec) {
  static const std::regex k_name("[A-Za-z_][A-Za-z0-9_]*");
  // This variable announces to reporters that a tuner reads their output.
  std::string text = fmt::format("export {}={}\n", k_trial_variable, trial_name(spec.key));
  if (!spec.environment.contains("PYTHONUNBUFFERED")) text += "export PYTHONUNBUFFERED=1\n";
  for (const auto& [name, value] : spec.environment) {
    if (!std::regex_match(name, k_name)) {
      return fail(ErrorKind::usage,
                  fmt::format("no shell can export the variable \"{}\" of the trial", name));
    }
    text += fmt::format("export {}={}\n", name, posix_quoted(value));
  }
  return text;
}

/// Returns the shell code that enters the trial's folder, runs the study's set-up, and then adds
/// the hook. The set-up may load modules or a virtual environment, so the hook comes last.
std::string place_lines(const TrialSpec& spec, const StepScript& script) {
  std::error_code error;
  const auto folder = spec.working_directory.empty() ? std::filesystem::current_path(error)
                                                     : spec.working_directory;
  std::string text = fmt::format("cd {} || {{ m cwd \"$SLURM_PROCID\"; exit 125; }}\n",
                                 posix_quoted(folder.string()));
  if (!script.setup.empty()) text += script.setup + "\n";
  if (!script.python_path.empty()) {
    text += fmt::format(
        "[ -r {0}/sitecustomize.py ] || echo \"steptune: PyTorch's hook is not seen here: is\" {0} "
        "\"on every node, and in the container?\"\n"
        "export PYTHONPATH={0}\"${{PYTHONPATH:+:$PYTHONPATH}}\"\n",
        posix_quoted(script.python_path));
  }
  return text;
}

Result<void> check_script(const std::string& text, const std::string& program) {
  if (text.find('\0') != std::string::npos) {
    return fail(ErrorKind::usage, "an argument or environment variable holds a NUL byte", program);
  }
  if (text.size() > k_most_script_bytes) {
    return fail(
        ErrorKind::usage,
        fmt::format("arguments and environment are too long together: {} bytes of at most {}",
                    text.size(), k_most_script_bytes),
        program, "pass long values through a file");
  }
  return {};
}

}  // namespace

bool has_rendezvous(const TrialSpec& spec, int tasks) {
  return tasks > 1 || is_torchrun(spec);
}

Result<std::string> step_script(const TrialSpec& spec, const StepScript& script) {
  if (spec.argv.empty()) {
    return fail(ErrorKind::usage, "the trial has no command",
                fmt::format("trial {}", spec.key.trial));
  }
  const auto environment = environment_lines(spec);
  if (!environment) return tl::unexpected(environment.error());
  // Run the trial in a subshell, so that its shell options and traps do not affect the code that
  // writes marks.
  std::string text = marking_lines(script.mark_word) + "(\n" + rank_lines(spec, script) +
                     *environment + place_lines(spec, script);
  // exec runs a program, never one of the shell's own commands.
  text += "exec";
  for (const std::string& word : spec.argv)
    text += " " + posix_quoted(word);
  text += ")\n";
  if (auto valid = check_script(text, spec.argv.front()); !valid) {
    return tl::unexpected(valid.error());
  }
  return text;
}

StepMarks::StepMarks(std::string mark_word, int tasks)
    : prefix_(fmt::format("{}steptune {} ", k_mark, mark_word)), tasks_(tasks) {}

void StepMarks::feed(std::string_view bytes,
                     const std::function<void(std::string_view)>& on_output) {
  // Longer text that begins like a mark is output.
  constexpr std::size_t k_longest_mark = 1024;
  const auto pass = [&on_output](std::string_view output) {
    if (!output.empty()) on_output(output);
  };
  std::string joined;
  if (!pending_.empty()) {
    joined = std::move(pending_);
    joined.append(bytes);
    bytes = joined;
    pending_.clear();
  }
  while (!bytes.empty()) {
    const std::size_t at = std::min(bytes.find(k_mark), bytes.size());
    pass(bytes.substr(0, at));
    bytes.remove_prefix(at);
    if (bytes.empty()) return;
    const std::string_view begin = bytes.substr(0, prefix_.size());
    if (!prefix_.starts_with(begin)) {
      pass(bytes.substr(0, 1));
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\n\x1e", 1);
    if (end == std::string_view::npos && bytes.size() < k_longest_mark) {
      pending_ = bytes;
      return;
    }
    const bool whole = end != std::string_view::npos && bytes[end] == '\n' &&
                       begin.size() == prefix_.size() &&
                       take(bytes.substr(prefix_.size(), end - prefix_.size()));
    // If the mark is broken, skip only its beginning: the following bytes are output or another
    // mark.
    bytes.remove_prefix(whole ? end + 1 : begin.size());
  }
}

bool StepMarks::take(std::string_view mark) {
  std::istringstream words{std::string(mark)};
  std::string what;
  int task = -1;
  if (!(words >> what >> task) || task < 0 || task >= tasks_) return false;
  std::string end;
  if (what == "start") {
    std::string host;
    std::string step;
    if (!(words >> host >> step >> end) || end != k_end_of_mark) return false;
    hosts_.emplace(task, std::move(host));
    step_id_ = std::move(step);
    return true;
  }
  if (what == "node") return take_node(words);
  if (what == "cwd") {
    if (!(words >> end) || end != k_end_of_mark) return false;
    folder_missing_ = true;
    return true;
  }
  int status = 0;
  if (what != "exit" || !(words >> status >> end)) return false;
  const bool on_request = end == k_sigterm_mark;
  if (on_request && !(words >> end)) return false;
  if (end != k_end_of_mark) return false;
  if (statuses_.try_emplace(task, status).second) take_end(status, on_request);
  return true;
}

bool StepMarks::take_node(std::istream& words) {
  std::string kernel;
  std::string cpu;
  if (!(words >> kernel) || !std::getline(words, cpu) || !cpu.ends_with(k_end_of_mark)) {
    return false;
  }
  cpu.resize(cpu.size() - k_end_of_mark.size());
  kernels_.insert(printable_line(kernel));
  const std::size_t begin = cpu.find_first_not_of(' ');
  if (begin != std::string::npos)
    cpus_.insert(printable_line(cpu.substr(begin, cpu.find_last_not_of(' ') + 1 - begin)));
  return true;
}

void StepMarks::take_end(int status, bool on_request) {
  if (status != 0) failures_.push_back(status);
  // Failures after the first SIGTERM or failure may be its consequences, so ignore them.
  if (was_asked_to_end_ || own_failure_) return;
  was_asked_to_end_ = on_request;
  if (!on_request && status != 0 && !was_ended(status)) own_failure_ = status;
}

bool StepMarks::all_succeeded() const {
  return exited() == tasks_ && failures_.empty();
}

std::optional<int> StepMarks::failure() const {
  if (failures_.empty()) return std::nullopt;
  if (own_failure_) return own_failure_;
  const auto own = std::ranges::find_if_not(failures_, was_ended);
  return own != failures_.end() ? *own : failures_.front();
}

bool StepMarks::only_ended() const {
  return std::ranges::all_of(failures_, was_ended);
}

}  // namespace steptune::slurm
