// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/output/lines.hpp"
#include "trial_runner/output/log_file.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/log_follower.hpp"
#include "trial_runner/sagemaker/pool_key.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"

namespace steptune {

/// Why this program asked for a job's end.
enum class JobEndRequest { none, stop, idle };

/// A trial that was handed over: it waits, runs as a job (or several in turn, where the service
/// failed), and ends. Times are those of the runner's clock.
struct JobInFlight {
  JobInFlight(TrialSpec trial, std::optional<PoolKey> key, double price_per_hour, LogFile file)
      : spec(std::move(trial)),
        pool_key(std::move(key)),
        usd_per_hour(price_per_hour),
        log(std::move(file)) {}

  /// A line that one of its hosts printed. Tells the start first if the program was not known to
  /// run yet. Of several hosts the first that reports is believed: all print the same progress.
  void read_line(double time_s, const LogLine& line, std::vector<TrialEvent>& events);
  /// The program runs since `time_s`; told once.
  void tell_start(double time_s, std::vector<TrialEvent>& events);
  /// What one launch has cost: seconds per instance that are billed.
  void add_bill(double billable_s);
  /// The end, with everything that was billed. Nothing may be done with the object afterwards.
  [[nodiscard]] TrialFinished finish(double time_s, Outcome outcome);
  /// How a job that has ended by itself or on request is to be told.
  [[nodiscard]] Outcome outcome_of(const JobState& state) const;

  [[nodiscard]] bool submitted() const { return !job.empty(); }

  TrialSpec spec;
  std::optional<PoolKey> pool_key;
  double usd_per_hour = 0.0;                    ///< of all its machines together
  std::map<std::string, ReportReader> reports;  ///< by host
  std::string reporting_host;
  LogFile log;
  OutputTail tail;

  std::string job;  ///< name; empty while it waits
  int launch = 1;
  double not_before_s = 0.0;            ///< waiting: for capacity or quota
  std::optional<std::string> pool_job;  ///< whose instances it is to run on
  int keep_alive_s = 0;                 ///< asked for
  double submitted_s = 0.0;
  double next_look_s = 0.0;         ///< at its state
  std::optional<double> started_s;  ///< told
  double last_output_s = 0.0;
  std::optional<JobState> ended;  ///< last state, once final; then only logs are awaited
  double logs_until_s = 0.0;      ///< awaited until then
  JobEndRequest end_request = JobEndRequest::none;
  bool stop_accepted = false;    ///< by the service
  bool closely_watched = false;  ///< its next change is seconds away
  bool adopted = false;          ///< from a former tuner
  double modified_wall_s = 0.0;  ///< as last listed
  int interruptions = 0;
  int capacity_failures = 0;
  bool pool_checked = false;  ///< whether the reuse of `pool_job` took place
  std::string refusal;        ///< why Create was refused for good

  double billed_s = 0.0;
  double billed_usd = 0.0;
};

}  // namespace steptune
