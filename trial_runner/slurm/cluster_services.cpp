// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/cluster_services.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "common/clock.hpp"
#include "common/exit_status.hpp"
#include "common/text.hpp"
#include "common/units.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/job_names.hpp"
#include "trial_runner/slurm/process_host.hpp"
#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/slurm/submission.hpp"

namespace steptune::slurm {
namespace {

/// Runs Slurm's commands. Starts no steps.
class Cluster {
 public:
  explicit Cluster(const Clock& clock) : clock_(clock) {
    ProcessHostOptions options;
    options.supervisor_program = "/nonexistent";
    host_ = ProcessHost::create(clock, std::move(options)).value();
  }

  CommandResult run(std::vector<std::string> argv, std::string input = {}) {
    return run_command(*host_, clock_, std::move(argv), std::move(input));
  }
  void pause(double seconds) {
    const double until_s = clock_.now_s() + seconds;
    while (clock_.now_s() < until_s)
      host_->wait_until(until_s);
  }

 private:
  const Clock& clock_;
  std::unique_ptr<ProcessHost> host_;
};

std::string without_prefix(const std::string& text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

/// Parses lines such as `12.0|t7-a1-l1-ab` into trials by job.
std::map<std::string, TrialKey> trials_by_job(const std::string& steps) {
  std::map<std::string, TrialKey> trials;
  for (const auto& [id, name] : parse_steps(steps)) {
    if (const auto key = trial_of_step(name)) trials.emplace(id.substr(0, id.find('.')), *key);
  }
  return trials;
}

HeldMachines machines_of(const QueueRow& row, const std::map<std::string, TrialKey>& trials,
                         double now_wall_s) {
  HeldMachines held;
  held.job = row.id;
  held.status = row.state;
  held.resources.instance_type = row.nodes == 1 ? "node" : "nodes";
  if (!row.node_list.empty()) held.resources.instance_type += " " + row.node_list;
  held.resources.instance_count = row.nodes;
  held.since_wall_s = row.submit_wall_s.value_or(now_wall_s);
  const JobPhase phase = phase_of(row.state);
  if (phase == JobPhase::usable || phase == JobPhase::suspended) {
    held.since_wall_s = row.start_wall_s.value_or(held.since_wall_s);
    if (row.end_wall_s) held.left_s = std::max(0.0, *row.end_wall_s - now_wall_s);
  }
  // A job that waits in the queue holds no nodes.
  const bool has_nodes = phase != JobPhase::waiting && phase != JobPhase::held && row.start_wall_s;
  held.machine_hours =
      has_nodes ? row.nodes * std::max(0.0, now_wall_s - *row.start_wall_s) / k_hour_s : 0.0;
  const auto trial = trials.find(row.id);
  if (const auto study = study_of_job(row.name)) {
    held.owner = JobOwner{*study, trial == trials.end() ? TrialKey{} : trial->second, 1};
  }
  held.holding = Holding::kept;
  if (phase == JobPhase::over) held.holding = Holding::settling;
  if (trial != trials.end() || !held.owner) held.holding = Holding::running;
  return held;
}

class ClusterAllocations final : public HeldMachinesService {
 public:
  [[nodiscard]] std::string region_help() const override {
    return "not used: Slurm has no regions";
  }
  [[nodiscard]] std::string kept_name(bool several) const override {
    return several ? "allocations" : "allocation";
  }
  [[nodiscard]] std::string release_command() const override {
    return "steptune pools --runner slurm --release";
  }
  [[nodiscard]] std::string end_command() const override { return "scancel JOB"; }

  [[nodiscard]] Result<HeldMachinesReport> list(const Clock& clock,
                                                const HeldMachinesRequest& request) const override {
    Cluster cluster(clock);
    auto report = list(cluster, clock, request);
    if (!report || !request.release) return report;
    std::vector<HeldMachines> released;
    for (const HeldMachines& held : report->machines) {
      if (held.holding == Holding::running) continue;
      const CommandResult cancelled = cluster.run({"scancel", held.job});
      if (!cancelled.ok()) {
        return fail(ErrorKind::unavailable, "cannot give back: " + last_words(cancelled),
                    "job " + held.job);
      }
      released.push_back(held);
    }
    // Wait for the end of jobs as long as the loop waits for the end of trials.
    const double until_s = clock.now_s() + k_forced_end_s;
    std::vector<Release> releases;
    while (true) {
      auto after = list(cluster, clock, request, false);
      if (!after) return after;
      const auto listed = [&after](const HeldMachines& held) {
        return std::ranges::find(after->machines, held.job, &HeldMachines::job) !=
               after->machines.end();
      };
      const bool waits = std::ranges::any_of(released, listed) && clock.now_s() < until_s;
      if (!waits) {
        for (HeldMachines& held : released) {
          const auto outcome = listed(held) ? ReleaseOutcome::not_ready : ReleaseOutcome::released;
          releases.push_back({std::move(held), outcome});
        }
        after->releases = std::move(releases);
        return after;
      }
      cluster.pause(k_least_request_gap_s);
    }
  }

 private:
  static Result<HeldMachinesReport> list(Cluster& cluster, const Clock& clock,
                                         const HeldMachinesRequest& request,
                                         bool named_must_exist = true) {
    const CommandResult queue = cluster.run(queue_command());
    const auto rows = parse_queue(queue.out);
    if (!queue.ok() || !rows) {
      return fail(queue.status == k_not_found_status ? ErrorKind::runner : ErrorKind::unavailable,
                  "cannot read Slurm's queue: " + last_words(queue), "squeue");
    }
    const CommandResult steps =
        cluster.run({"squeue", "--noheader", "--me", "--all", "--steps", "--format=%i|%j"});
    // Return an error: without this list every allocation would look idle, and a user could give it
    // back.
    if (!steps.ok()) {
      return fail(ErrorKind::unavailable,
                  "cannot read the steps in Slurm's queue: " + last_words(steps), "squeue --steps");
    }
    const auto trials = trials_by_job(steps.out);
    HeldMachinesReport report;
    report.region = "this cluster";
    report.now_wall_s = clock.wall_time_s();
    std::set<std::string> missing(request.jobs.begin(), request.jobs.end());
    for (const QueueRow& row : *rows) {
      const bool gone = phase_of(row.state) == JobPhase::over && row.state != "COMPLETING";
      const bool named = missing.erase(row.id) + missing.erase(row.name) > 0;
      if (gone) continue;
      HeldMachines held = machines_of(row, trials, report.now_wall_s);
      const bool shown = request.jobs.empty() ? held.owner || request.all : named;
      if (shown) {
        report.machines.push_back(std::move(held));
      } else if (!held.owner) {
        ++report.hidden;
      }
    }
    if (!missing.empty() && named_must_exist) {
      return fail(ErrorKind::not_found,
                  fmt::format("there is no job \"{}\"", printable_line(*missing.begin())), {},
                  "`steptune pools --runner slurm --all` lists this user's jobs");
    }
    return report;
  }
};

/// Replaces the start time in `Job 7 to start at 1795397931 using ...` by the wait from now.
std::string with_waiting_time(std::string text, double now_wall_s) {
  constexpr std::string_view k_before = "to start at ";
  const std::size_t found = text.find(k_before);
  if (found == std::string::npos) return text;
  const std::size_t begin = found + k_before.size();
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  const auto start_wall_s = parse_finite(text.substr(begin, end - begin));
  if (!start_wall_s) return text;
  const double wait_s = *start_wall_s - now_wall_s;
  const std::string when = wait_s < 1.0 ? "now" : "in " + format_duration(wait_s);
  return fmt::format("would start {}{}", when, text.substr(end));
}

std::string config_value(const std::string& config, std::string_view name) {
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t equals = line.find("= ");
    if (equals != std::string::npos) return printable_line(line.substr(equals + 2), 60);
  }
  return "unknown";
}

/// Parses year and month of a release from `22.05.8`; nullopt if the version has another form.
std::optional<std::pair<int, int>> release_of(const std::string& version) {
  std::istringstream words(version);
  std::pair<int, int> release;
  char dot = 0;
  if (!(words >> release.first >> dot >> release.second) || dot != '.') return std::nullopt;
  return release;
}

/// Checks the release. `version` is the version of this machine's commands, which the runner uses.
Diagnosis release_diagnosis(const std::string& version, const std::string& config) {
  constexpr std::pair k_least_release{20, 11};
  Diagnosis diagnosis{
      "slurm", DiagnosisStatus::ok,
      fmt::format("version {}, {}, ended jobs are known for {}", version,
                  config_value(config, "AccountingStorageType") == "accounting_storage/none"
                      ? "no accounting (none is needed)"
                      : "accounting",
                  config_value(config, "MinJobAge")),
      ""};
  const auto release = release_of(version);
  if (!release || *release >= k_least_release) return diagnosis;
  diagnosis.status = DiagnosisStatus::warn;
  diagnosis.advice =
      "the runner slurm needs 20.11 or later: earlier releases lack `squeue --me`, which finds "
      "allocations, and their steps share an allocation's processors (no `--exact`, no "
      "`--overlap`)";
  return diagnosis;
}

/// Formats `main: up, 4 nodes of 16 CPUs, limit infinite; ...`.
std::string partitions_text(const std::string& rows) {
  std::string text;
  std::istringstream lines(rows);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words;
    std::istringstream parts(line);
    for (std::string word; std::getline(parts, word, '|');)
      words.push_back(std::move(word));
    if (words.size() < 6) continue;
    text += fmt::format("{}{}: {}, {} node{} of {} CPUs{}, limit {}", text.empty() ? "" : "; ",
                        words[0], words[1], words[3], words[3] == "1" ? "" : "s", words[4],
                        words[5] == "(null)" ? "" : " and " + words[5], words[2]);
  }
  return printable_line(text, 1000);
}

/// True if Slurm's commands are installed but not configured for a cluster.
bool is_unconfigured(const CommandResult& result) {
  return result.err.find("configuration source") != std::string::npos;
}

}  // namespace

std::vector<TestedSubmission> test_submissions(const std::vector<AllocationSpec>& specs,
                                               const SlurmOptions& options) {
  const SystemClock clock;
  Cluster cluster(clock);
  std::vector<TestedSubmission> answers;
  for (const AllocationSpec& requested : specs) {
    auto words = submit_words(requested, options, "steptune.check");
    words.insert(words.begin() + 1, "--test-only");
    const CommandResult result = cluster.run(words, "#!/bin/sh\ntrue\n");
    if (result.status == k_not_found_status) {
      answers.push_back(
          {"not found on this machine: the cluster's configuration is not known here", false});
      return answers;
    }
    if (is_unconfigured(result)) {
      answers.push_back({"no cluster is configured on this machine: no request was sent", false});
      return answers;
    }
    const std::string said = without_prefix(last_words(result), "sbatch: ");
    if (result.ok()) {
      answers.push_back(
          {fmt::format("{}: {}", words_of(requested), with_waiting_time(said, clock.wall_time_s())),
           false});
    } else if (result.status < k_signal_status && !may_pass(result)) {
      answers.push_back({fmt::format("{}: refused: {}", words_of(requested), said), true});
    } else {
      answers.push_back({fmt::format("{}: no answer: {}", words_of(requested), said), false});
      return answers;
    }
  }
  return answers;
}

std::optional<std::string> fault_of_mpi(const std::string& option) {
  const SystemClock clock;
  Cluster cluster(clock);
  // srun may list a plugin whose library is not installed, so try it.
  const CommandResult result =
      cluster.run({"srun", "--test-only", option, "--ntasks=1", "--nodes=1", "true"});
  if (result.ok() || result.err.find("Invalid MPI type") == std::string::npos) return std::nullopt;
  return fmt::format("srun has no usable plugin for {}: {}", option,
                     without_prefix(last_words(result), "srun: error: "));
}

const HeldMachinesService& cluster_allocations() {
  static const ClusterAllocations k_service;
  return k_service;
}

std::vector<Diagnosis> diagnose_cluster() {
  const SystemClock clock;
  Cluster cluster(clock);
  const CommandResult partitions =
      cluster.run({"sinfo", "--noheader", "--format=%P|%a|%l|%D|%c|%G"});
  if (partitions.status == k_not_found_status) return {};
  if (!partitions.ok()) {
    if (is_unconfigured(partitions)) {
      return {{"slurm", DiagnosisStatus::ok, "installed, but no cluster is configured here", ""}};
    }
    return {{"slurm", DiagnosisStatus::warn, "no answer: " + last_words(partitions),
             "studies with the runner slurm need the cluster's controller: `scontrol ping`"}};
  }
  const std::string config = cluster.run({"scontrol", "show", "config"}).out;
  // Parses `slurm-wlm 22.05.8`.
  const std::string version = last_words(cluster.run({"sinfo", "--version"}));
  const std::string number = version.substr(version.find(' ') + 1);
  return {release_diagnosis(number, config),
          {"slurm_partitions", DiagnosisStatus::ok, partitions_text(partitions.out), ""}};
}

}  // namespace steptune::slurm
