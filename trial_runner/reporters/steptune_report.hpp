// SPDX-License-Identifier: Apache-2.0
//
// Reports a training program's progress to Steptune. One header, C++17, no dependencies: copy it
// into your project or include the installed one.
//
//   steptune::Reporter reporter;
//   for (auto& batch : loader) {
//     ... one optimizer step ...
//     reporter.step(batch.size(), {{"loss", loss}});
//   }
//
// Outside a tuner (STEPTUNE_TRIAL not set) nothing is printed, and a call costs one branch. In a
// trial, the reporter prints `[steptune] {"v":1,...}` lines to stdout: for the first step, for the
// last step, and at most four lines a second in between. A line has the number of all steps so far,
// and the metrics that were reported since the line before. In distributed training only rank 0
// prints, unless the tuner reads the output of every rank (STEPTUNE_ALL_RANKS).
//
// At most 64 metrics and 64 parts are reported, with names of 1 to 100 bytes. Others are left out;
// the first of them is named in a warning on stderr.
//
// Time that a program spends outside training steps is a phase. Mark the start and the end of a
// phase:
//
//   { steptune::Phase phase(reporter, "evaluation"); evaluate(model); }
#pragma once

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace steptune {

/// Counts steps and samples, and prints the counts at intervals. Thread safe. Create the reporter
/// where training begins, because its clock starts then. In distributed training, each rank reports
/// the steps and samples of all ranks together.
class Reporter {
 public:
  using Metrics = std::initializer_list<std::pair<const char*, double>>;

  Reporter()
      : active_(in_tuner() && (rank() <= 0 || all_ranks_report())),
        reported_rank_(all_ranks_report() ? rank() : -1),
        process_(process_id()) {}
  ~Reporter() { flush(); }
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  /// Reports one completed optimizer step over `samples` samples.
  void step(double samples, Metrics metrics = {}) { steps(1, samples, metrics); }

  /// Reports several steps at once; `samples` is their total.
  void steps(std::uint64_t count, double samples, Metrics metrics = {}) {
    if (!active_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    steps_ += count;
    if (samples > 0 && std::isfinite(samples)) samples_ += samples;
    // Keep the time of the step's end, because the line may be printed later.
    last_step_s_ = elapsed_s();
    keep(metrics);
    print_if_due();
  }

  /// Reports values that belong to no step, such as an accuracy at the end of an epoch.
  void metrics(Metrics metrics) {
    if (!active_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    keep(metrics);
    print_if_due();
  }

  /// Adds `seconds` to a part of the steps, such as "data", "compute" or "optimizer".
  void part(const char* name, double seconds) {
    if (!active_ || !(seconds >= 0) || !std::isfinite(seconds)) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (Entry* entry = entry_of(parts_, name)) entry->value += seconds;
  }

  /// Begins a phase, which lasts until `end_phase` with the same name: an evaluation, a checkpoint,
  /// the end of an epoch. Call it in the training thread. A phase inside another phase is not
  /// reported: its time belongs to the outer phase. Use `Phase` for a phase that lasts as long as a
  /// scope.
  void begin_phase(const char* name) {
    if (!active_) return;
    const std::string phase = name;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (phase.empty() || phase.size() > 100) {
      return warn(phase.substr(0, 40), "is not a valid name for a phase: 1 to 100 bytes");
    }
    const double now_s = elapsed_s();
    const bool is_outermost = phases_.empty();
    phases_.push_back({phase, now_s, is_outermost});
    if (is_outermost) print_phase(",\"phase\":" + quoted(phase) + ",\"clock\":" + text_of(now_s));
  }

  /// Ends the phase of this name that began last.
  void end_phase(const char* name) {
    if (!active_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto phase = phases_.end(); phase != phases_.begin();) {
      if ((--phase)->name != name) continue;
      const UnderWay ended = *phase;
      phases_.erase(phase);
      if (!ended.is_outermost) return;
      const double now_s = elapsed_s();
      return print_phase(",\"phase\":" + quoted(name) + ",\"seconds\":" +
                         text_of(now_s - ended.begin_s) + ",\"clock\":" + text_of(now_s));
    }
    warn(std::string(name).substr(0, 40), "is a phase that ended but did not begin");
  }

  /// Prints steps and metrics that are not printed yet. The destructor calls it.
  void flush() {
    if (!active_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pending_) print();
  }

  /// True if this reporter prints lines: in a trial, on a rank that reports.
  bool active() const { return active_; }

 private:
  struct Entry {
    std::string name;
    double value;
    bool is_printed;  // metrics only: true if a line had this value
  };
  using Named = std::vector<Entry>;
  using SteadyClock = std::chrono::steady_clock;
  struct UnderWay {
    std::string name;
    double begin_s;
    bool is_outermost;
  };

  static bool in_tuner() {
    const char* trial = std::getenv("STEPTUNE_TRIAL");
    return trial != nullptr && *trial != '\0';
  }
  /// Returns -1 in a program with one process, or without rank variables.
  static int rank() {
    for (const char* variable : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
      const char* text = std::getenv(variable);
      int number = -1;
      if (text != nullptr) (void)std::from_chars(text, text + std::strlen(text), number);
      if (number >= 0) return number;
    }
    return -1;
  }
  static bool all_ranks_report() {
    const char* all = std::getenv("STEPTUNE_ALL_RANKS");
    return all != nullptr && std::string(all) == "1";
  }
  static long process_id() {
#if defined(__unix__) || defined(__APPLE__)
    return static_cast<long>(getpid());
#else
    return 0;
#endif
  }
  double elapsed_s() const {
    return std::chrono::duration<double>(SteadyClock::now() - begin_).count();
  }

  /// Returns the entry of this name. Returns null, with a warning, if the tuner would refuse a line
  /// to which this name is added.
  Entry* entry_of(Named& named, const std::string& name) {
    for (auto& entry : named) {
      if (entry.name == name) return &entry;
    }
    if (name.empty() || name.size() > 100) {
      warn(name.substr(0, 40), "is not a valid name: 1 to 100 bytes");
      return nullptr;
    }
    if (named.size() >= 64) {
      warn(name, "is one name too many: at most 64 are reported");
      return nullptr;
    }
    named.push_back({name, 0.0, false});
    return &named.back();
  }
  static bool is_reserved(const std::string& name) {
    return name == "v" || name == "step" || name == "samples" || name == "clock" ||
           name == "parts" || name == "not_finite" || name == "phase" || name == "global_rank";
  }
  void keep(Metrics metrics) {
    pending_ = true;
    for (const auto& metric : metrics) {
      if (is_reserved(metric.first)) {
        warn(metric.first, "is not a valid metric name");
      } else if (Entry* kept = entry_of(metrics_, metric.first)) {
        kept->value = metric.second;
        kept->is_printed = false;
      }
    }
  }
  void warn(const std::string& name, const char* why) {
    if (warned_) return;
    warned_ = true;
    std::fprintf(stderr, "steptune: \"%s\" %s; ignored\n", name.c_str(), why);
  }

  void print_if_due() {
    const double now_s = elapsed_s();
    if (printed_ && now_s - printed_s_ < 0.25) return;
    printed_s_ = now_s;
    print();
  }
  void print_phase(const std::string& keys) {
    // Print earlier steps first. Phases are rare, so each phase is printed at once.
    if (pending_) print();
    write(keys);
  }
  void print() {
    pending_ = false;
    std::string line;
    if (steps_ > 0) {
      line += ",\"step\":" + std::to_string(steps_);
      if (samples_ > 0) line += ",\"samples\":" + text_of(samples_);
      line += ",\"clock\":" + text_of(last_step_s_);
    }
    std::string not_finite;
    for (auto& metric : metrics_) {
      if (metric.is_printed) continue;
      metric.is_printed = true;
      if (std::isfinite(metric.value)) {
        line += ',' + quoted(metric.name) + ':' + text_of(metric.value);
      } else {
        not_finite += (not_finite.empty() ? "" : ",") + quoted(metric.name);
      }
    }
    if (!not_finite.empty()) line += ",\"not_finite\":[" + not_finite + ']';
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      line +=
          (i == 0 ? ",\"parts\":{" : ",") + quoted(parts_[i].name) + ':' + text_of(parts_[i].value);
    }
    if (!parts_.empty()) line += '}';
    write(line);
    printed_ = true;
  }
  void write(const std::string& keys) {
    if (process_ != process_id()) return;
    const std::string rank =
        reported_rank_ < 0 ? "" : ",\"global_rank\":" + std::to_string(reported_rank_);
    const std::string line = "[steptune] {\"v\":1" + rank + keys + "}\n";
    // Write in one call, so that other threads' lines do not split it.
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
  }
  static std::string text_of(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.12g", value);
    // The locale's decimal point may be one byte or several.
    std::string number;
    for (const char* c = text; *c != '\0'; ++c) {
      const bool plain = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
      if (plain) {
        number += *c;
      } else if (!number.empty() && number.back() != '.') {
        number += '.';
      }
    }
    return number;
  }
  static std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) {
      if (c == '"' || c == '\\') text += '\\';
      text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return text + '"';
  }

  const bool active_;
  const int reported_rank_;  // part of each line; -1: none
  const long process_;       // a forked child must not report its parent's steps
  const SteadyClock::time_point begin_ = SteadyClock::now();
  std::mutex mutex_;
  std::uint64_t steps_ = 0;
  double samples_ = 0;
  double last_step_s_ = 0;
  double printed_s_ = 0;
  bool printed_ = false;
  bool pending_ = false;
  bool warned_ = false;
  Named metrics_;
  Named parts_;
  std::vector<UnderWay> phases_;
};

/// Returns the program's reporter, created by the first call and flushed at exit.
inline Reporter& reporter() {
  static Reporter the_reporter;
  return the_reporter;
}

/// Calls `reporter().step(...)`: one line in an existing training loop.
inline void report(double samples, Reporter::Metrics metrics = {}) {
  reporter().step(samples, metrics);
}

/// Adds the time of its scope to a part:
/// `{ steptune::PartTimer timer(reporter, "data"); batch = loader.next(); }`
class PartTimer {
 public:
  PartTimer(Reporter& reporter, const char* part) : reporter_(reporter), part_(part) {}
  ~PartTimer() {
    const auto spent = std::chrono::steady_clock::now() - begin_;
    reporter_.part(part_, std::chrono::duration<double>(spent).count());
  }
  PartTimer(const PartTimer&) = delete;
  PartTimer& operator=(const PartTimer&) = delete;

 private:
  Reporter& reporter_;
  const char* part_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A phase that lasts as long as its scope:
/// `{ steptune::Phase phase(reporter, "checkpoint"); save(model); }`
class Phase {
 public:
  Phase(Reporter& reporter, std::string name) : reporter_(reporter), name_(std::move(name)) {
    reporter_.begin_phase(name_.c_str());
  }
  explicit Phase(std::string name) : Phase(reporter(), std::move(name)) {}
  ~Phase() { reporter_.end_phase(name_.c_str()); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  Reporter& reporter_;
  std::string name_;
};

}  // namespace steptune
