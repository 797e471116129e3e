// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/process_host.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/exit_status.hpp"
#include "common/memory_file.hpp"
#include "common/pause.hpp"
#include "common/sha256.hpp"
#include "common/shell_quote.hpp"
#include "common/shipped_files.hpp"
#include "common/system_reason.hpp"
#include "trial_runner/slurm/leases.hpp"
#include "trial_runner/slurm/supervised_step.hpp"

namespace steptune::slurm {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_supervisor_name = "steptune-slurm-supervisor";
constexpr const char* k_about_file = "about";
constexpr const char* k_shared = "shared-";  ///< prefix of the names of folders for the nodes

/// Returns this program's environment variables. Leaves out variables that act as options of
/// Slurm's commands, and variables of a job in which this program runs.
std::map<std::string, std::string> variables_of_children() {
  auto variables = process_variables();
  std::erase_if(variables, [](const auto& variable) { return is_slurm_variable(variable.first); });
  return variables;
}

bool is_inherited(std::string_view name, const std::vector<std::string>& inherited) {
  // Without these variables, srun may not be found, or may not find the cluster or the user.
  constexpr std::array<std::string_view, 7> k_always_inherited = {
      "PATH", "HOME", "USER", "LOGNAME", "SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT"};
  return std::ranges::find(k_always_inherited, name) != k_always_inherited.end() ||
         std::ranges::any_of(inherited, [name](const std::string_view wanted) {
           return wanted.ends_with('*') ? name.starts_with(wanted.substr(0, wanted.size() - 1))
                                        : name == wanted;
         });
}

std::vector<std::string> environment_of_steps(
    const std::optional<std::vector<std::string>>& inherited) {
  auto variables = variables_of_children();
  if (inherited) {
    std::erase_if(variables, [&inherited](const auto& variable) {
      return !is_inherited(variable.first, *inherited);
    });
  }
  return assignments(variables);
}

/// Starts a program in its own session, so that signals of this program's terminal do not reach it.
Result<pid_t> start_detached(ChildRequest request) {
  request.scope = ChildScope::own_session;
  const auto pid = start_child(request);
  if (pid) return *pid;
  const int error = pid.error();
  return fail(error == EAGAIN || error == ENOMEM ? ErrorKind::unavailable : ErrorKind::runner,
              fmt::format("cannot start: {}", system_reason(error)), request.argv.front());
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

bool write_file(const fs::path& path, const std::string& text) {
  const fs::path fresh = path.string() + ".new" + std::to_string(::getpid());
  {
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    if (!(file << text) || !file.flush()) return false;
  }
  std::error_code error;
  fs::rename(fresh, path, error);
  return !error;
}

bool contains(const fs::path& folder, const std::map<std::string, std::string>& files) {
  return std::ranges::all_of(files, [&folder](const auto& file) {
    std::ifstream stream(folder / file.first, std::ios::binary);
    return stream && std::string(std::istreambuf_iterator<char>(stream), {}) == file.second;
  });
}

}  // namespace

bool is_slurm_variable(std::string_view name) {
  constexpr std::array<std::string_view, 3> k_kept = {"SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT"};
  if (std::ranges::find(k_kept, name) != k_kept.end()) return false;
  constexpr std::array<std::string_view, 12> k_prefixes = {
      "SLURM_",   "SLURMD_", "SBATCH_", "SRUN_",     "SALLOC_", "SQUEUE_",
      "SCANCEL_", "SINFO_",  "SACCT_",  "SCONTROL_", "PMI",     "OMPI_"};
  return std::ranges::any_of(k_prefixes,
                             [name](std::string_view prefix) { return name.starts_with(prefix); });
}

ProcessHost::ProcessHost(const Clock& clock, ProcessHostOptions options)
    : clock_(clock),
      options_(std::move(options)),
      environment_(assignments(variables_of_children())),
      step_environment_(environment_of_steps(options_.inherited)) {}

Result<std::unique_ptr<ProcessHost>> ProcessHost::create(const Clock& clock,
                                                         ProcessHostOptions options) {
  if (options.supervisor_program.empty()) {
    auto found = find_helper(k_supervisor_name, "under which trials run on Slurm");
    if (!found) return tl::unexpected(found.error());
    options.supervisor_program = *std::move(found);
  }
  return std::unique_ptr<ProcessHost>(new ProcessHost(clock, std::move(options)));
}

ProcessHost::~ProcessHost() {
  for (const Command& command : commands_) {
    if (command.pid <= 0 || command.gives_back) continue;
    ::kill(-command.pid, SIGKILL);
    ::waitpid(command.pid, nullptr, 0);
  }
}

void ProcessHost::run(std::vector<std::string> argv, std::string input, Then then) {
  Command command;
  command.then = std::move(then);
  command.gives_back = argv.front() == "scancel";
  command.until_s = clock_.now_s() + options_.command_limit_s;
  const UniqueFd in = memory_file(input);
  command.out = memory_file();
  command.err = memory_file();
  ChildRequest request;
  request.argv = std::move(argv);
  request.environment = environment_;
  request.environment.emplace_back("SLURM_TIME_FORMAT=%s");
  request.in = in.get();
  request.out = command.out.get();
  request.err = command.err.get();
  const auto pid = start_detached(std::move(request));
  if (pid) {
    command.pid = *pid;
  } else {
    command.result = {k_not_found_status, false, {}, pid.error().text()};
  }
  commands_.push_back(std::move(command));
}

void ProcessHost::poll() {
  std::vector<std::pair<Then, CommandResult>> ended;
  for (auto command = commands_.begin(); command != commands_.end();) {
    if (command->pid > 0) {
      int status = 0;
      const pid_t ended_pid = ::waitpid(command->pid, &status, WNOHANG);
      if (ended_pid == 0 || (ended_pid < 0 && errno == EINTR)) {
        if (!command->timed_out && clock_.now_s() >= command->until_s) {
          ::kill(-command->pid, SIGKILL);
          command->timed_out = true;
        }
        ++command;
        continue;
      }
      // If SIGCHLD is ignored, the exit status is lost, so treat it as an end by a signal.
      const int code = ended_pid < 0 ? k_signal_status : shell_status(status);
      command->result = {code, command->timed_out, text_of(command->out), text_of(command->err)};
    }
    ended.emplace_back(std::move(command->then), std::move(command->result));
    command = commands_.erase(command);
  }
  // Call the functions last, because they may start further commands.
  for (const auto& [then, result] : ended)
    then(result);
}

void ProcessHost::wait_until(double deadline_s) {
  pause_thread(std::min(deadline_s - clock_.now_s(), k_child_poll_s));
  poll();
}

Result<void> ProcessHost::open_folder(const std::string& prefix) {
  std::error_code error;
  study_folder_ = fs::absolute(options_.folder, error) / prefix;
  fs::create_directories(study_folder_, error);
  if (!error) return {};
  return fail(ErrorKind::runner, "cannot create the runner's folder: " + error.message(),
              study_folder_.string(),
              "give a folder that this machine and the nodes share as \"folder\" of \"runner\"");
}

Result<fs::path> ProcessHost::share_files(const std::map<std::string, std::string>& files) {
  std::string all;
  for (const auto& [path, text] : files)
    all += fmt::format("{}\n{}\n", path, sha256_hex(text));
  const fs::path folder = study_folder_ / (k_shared + sha256_hex(all).substr(0, 16));
  if (contains(folder, files)) return folder;
  // Nodes may read the folder at any time, so it must appear complete or not at all.
  const fs::path fresh = folder.string() + ".new" + std::to_string(::getpid());
  std::error_code error;
  fs::remove_all(fresh, error);
  for (const auto& [path, text] : files) {
    fs::create_directories((fresh / path).parent_path(), error);
    if (error || !write_file(fresh / path, text)) {
      return fail(ErrorKind::runner, "cannot write: is the disk full?", (fresh / path).string());
    }
  }
  fs::remove_all(folder, error);
  fs::rename(fresh, folder, error);
  if (!error) return folder;
  return fail(ErrorKind::runner, "cannot make a folder for the nodes: " + error.message(),
              folder.string());
}

void ProcessHost::remove_shared_files() {
  std::error_code error;
  std::vector<fs::path> shared;
  for (const auto& entry : fs::directory_iterator(study_folder_, error)) {
    if (entry.path().filename().string().starts_with(k_shared)) shared.push_back(entry.path());
  }
  for (const fs::path& folder : shared)
    fs::remove_all(folder, error);
}

fs::path ProcessHost::lease_of(const std::string& allocation) const {
  return study_folder_ / (allocation + ".lease");
}

fs::path ProcessHost::up_of(const std::string& allocation) const {
  return study_folder_ / (allocation + ".up");
}

Result<std::unique_ptr<Step>> ProcessHost::start_step(const StepRequest& request) {
  const fs::path folder = study_folder_ / request.name;
  std::error_code error;
  fs::create_directory(folder, error);
  const std::string about = fmt::format("{}\n{}\n{}\n{}\n{}\n", host_name(), request.allocation,
                                        request.job_id, request.mark_word, request.tasks);
  if (error || !write_file(folder / k_about_file, about)) {
    return fail(ErrorKind::runner, "cannot write: is the disk full?", folder.string());
  }
  ChildRequest supervisor;
  supervisor.argv = {options_.supervisor_program.string(), folder.string(),
                     lease_of(request.allocation).string(), fmt::format("{:.0f}", request.keep_s)};
  supervisor.argv.insert(supervisor.argv.end(), request.argv.begin(), request.argv.end());
  supervisor.environment = step_environment_;
  const auto pid = start_detached(std::move(supervisor));
  if (!pid) return tl::unexpected(pid.error());
  return std::make_unique<SupervisedStep>(clock_, folder, *pid);
}

std::vector<EarlierStep> ProcessHost::find_steps() {
  std::vector<EarlierStep> steps;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(study_folder_, error)) {
    std::ifstream file(entry.path() / k_about_file);
    std::string host;
    EarlierStep former;
    StepRequest& request = former.request;
    if (!std::getline(file, host) || !std::getline(file, request.allocation) ||
        !std::getline(file, request.job_id) || !std::getline(file, request.mark_word) ||
        !(file >> request.tasks)) {
      continue;
    }
    request.name = entry.path().filename().string();
    // For a step of another machine, only the files are visible. This machine cannot signal its
    // supervisor.
    if (host == host_name()) {
      former.step = std::make_unique<SupervisedStep>(clock_, entry.path(), std::nullopt);
    }
    steps.push_back(std::move(former));
  }
  return steps;
}

Result<void> ProcessHost::set_lease(const std::string& allocation, double until_wall_s) {
  if (write_file(lease_of(allocation), fmt::format("{:.0f}\n", until_wall_s))) return {};
  return fail(ErrorKind::runner, "cannot write the lease of an allocation: is the disk full?",
              lease_of(allocation).string());
}

std::string ProcessHost::holder_script(const std::string& allocation) const {
  return fmt::format(
      "#!/bin/sh\n"
      "# Holds nodes for Steptune as long as somebody renews the lease.\n"
      "lease={}\n"
      "printf '%s %s\\n' \"$SLURM_JOB_ID\" \"$SLURM_JOB_CPUS_PER_NODE\" > {}\n"
      "trap 'exit 0' TERM\n"
      "blind=0\n"
      "while :; do\n"
      "  until=$(cat \"$lease\" 2>/dev/null)\n"
      "  case $until in\n"
      "    '' | *[!0-9]*) blind=$((blind + 1)); [ \"$blind\" -lt {} ] || exit 3 ;;\n"
      "    *) blind=0; [ \"$(date +%s)\" -lt \"$until\" ] || exit 0 ;;\n"
      "  esac\n"
      "  sleep {} & wait $!\n"
      "done\n",
      posix_quoted(lease_of(allocation).string()), posix_quoted(up_of(allocation).string()),
      std::max(2, k_longest_blind_s / options_.holder_poll_s), options_.holder_poll_s);
}

std::optional<std::string> ProcessHost::node_cpus(const std::string& allocation) const {
  std::ifstream file(up_of(allocation));
  if (!file) return std::nullopt;
  std::string job, cpus;
  file >> job >> cpus;
  return cpus;
}

void ProcessHost::forget_allocation(const std::string& allocation) {
  std::error_code error;
  fs::remove(lease_of(allocation), error);
  fs::remove(up_of(allocation), error);
}

CommandResult run_command(SubmitHost& host, const Clock& clock, std::vector<std::string> argv,
                          std::string input) {
  std::optional<CommandResult> answer;
  host.run(std::move(argv), std::move(input),
           [&answer](const CommandResult& result) { answer = result; });
  host.poll();
  while (!answer)
    host.wait_until(clock.now_s() + 1.0);
  return *std::move(answer);
}

}  // namespace steptune::slurm
