// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json_record.hpp"
#include "tuner/history/history.hpp"
#include "tuner/report/judged_commands.hpp"

namespace steptune {

/// A version that may have made the program slower.
struct SuspectedVersion {
  std::string version;       ///< the whole hash of a commit, or a package's version
  std::string subject;       ///< first line of a commit's message
  double probability = 0.0;  ///< probability that this is the first slow version
};

/// Outcome of a bisection. Scripts read the names, so they must not change.
enum class BisectionOutcome {
  found,       ///< one version is the first slow one, with a probability of at least 95 %
  undecided,   ///< several versions remain
  not_slower,  ///< the bad version is not slower than the good one
};
[[nodiscard]] std::string to_text(BisectionOutcome outcome);

/// Result of looking for the version that made a program slower.
struct Bisection {
  std::string package;  ///< compared package; empty: the versions are commits
  BisectionOutcome outcome = BisectionOutcome::undecided;
  bool bad_is_slower = false;  ///< the measurements show that the bad version is slower
  bool bad_is_unusable = false;
  /// The first slow version is one of these, with a probability of at least 95 %. In the order of
  /// the versions.
  std::vector<SuspectedVersion> suspects;
  /// Speed of the slow versions divided by the speed before; nullopt if no slow version was
  /// measured.
  std::optional<double> ratio;
  std::size_t versions = 0;           ///< versions after the good one
  std::size_t measured = 0;           ///< measured versions
  std::vector<std::string> unusable;  ///< versions that could not be built, installed or run
  /// Version just before the first suspect.
  std::string before;
  double spent_s = 0.0;
  double longest_s = 0.0;
};
template <>
const JsonRecord<Bisection>& json_record<Bisection>();

/// Formats a version: `torch 2.4.0`, or the first digits of a commit's hash.
[[nodiscard]] std::string version_text(const Bisection& bisection, const std::string& version);

/// Returns the result for people, as lines. Ends with a newline.
[[nodiscard]] std::string bisection_text(const Bisection& bisection);

/// A stage of a bisection in the history: commands compared with the first one.
struct BisectStage {
  std::string study;  ///< name of the study that compared the commands
  std::vector<std::vector<std::string>> commands;
  bool is_finished = false;
  double elapsed_s = 0.0;
  JudgedCommands judged;  ///< result; only set if the stage is finished
};

/// Returns the stages of the bisection `name` in order: the studies `name`, `name-2`, `name-3` and
/// so on. Fails if the history or one of these studies cannot be read.
[[nodiscard]] Result<std::vector<BisectStage>> read_bisect_stages(const History& history,
                                                                  const std::string& name);

}  // namespace steptune
