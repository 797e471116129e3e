// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace steptune {

/// Largest number of counters (or bars, or kinds of lines) that are watched at a time, to bound
/// memory. Programs have few.
inline constexpr std::size_t k_most_counters = 64;

/// Value of a counter in a line.
struct Count {
  double value = 0.0;
  std::optional<double> total;  ///< `100` of `12/100`
  std::optional<double> epoch;
  /// The counter starts again in each epoch (progress bars). If false, a restart is recognised when
  /// the value goes back.
  bool per_epoch = false;
};

/// Makes a counter cumulative that starts again in each epoch. A small decrease is no restart:
/// several ranks may print in turn. The cumulative count then stays unchanged. Large jumps back and
/// forth come from several programs, each with its own count.
class CumulativeCounter {
 public:
  double add(const Count& count);
  [[nodiscard]] double value() const { return base_ + last_; }
  /// True if lines of two programs with distant counts are mixed. One of them may print many lines
  /// between two lines of the other. There is then no valid cumulative count.
  [[nodiscard]] bool several_writers() const { return several_writers_; }
  /// Returns the largest share of an epoch that the count may lack. If no line shows the epoch's
  /// length, steps after the epoch's last line are not counted. 0 until the counter has started
  /// again twice.
  [[nodiscard]] double uncounted_share() const { return uncounted_share_; }

 private:
  void start_again(double value);
  [[nodiscard]] bool restarted(const Count& count);
  void note_writers(double value);

  double base_ = 0.0;
  double last_ = 0.0;
  bool has_begun_ = false;
  double spacing_ = 0.0;  ///< largest difference between two lines of an epoch
  double latest_spacing_ = 0.0;
  int restarts_ = 0;
  bool spans_epochs_ = false;  ///< the counter has continued into a new epoch without restarting
  double uncounted_share_ = 0.0;
  std::optional<double> total_;
  std::optional<double> epoch_;
  /// The latest value, and the values of the two programs if there are two.
  double latest_ = 0.0;
  double ahead_ = 0.0;
  double behind_ = 0.0;
  /// Number of jumps from the lower value to the higher one while both advance.
  int went_forth_ = 0;
  bool several_writers_ = false;
};

/// Returns the text for people about a counter that several programs print: its name, the finding
/// and the remedy.
[[nodiscard]] std::string several_writers_fault(std::string_view counter);
/// Returns the text for people about a counter that misses a share of each epoch. Describes the
/// counter of steps; if its share is too small to matter, the counter of samples. nullopt if both
/// shares are too small.
[[nodiscard]] std::optional<std::string> uncounted_note(double share_of_steps,
                                                        double share_of_samples);

/// Distinguishes counters from other numbers under the same name, such as sizes or counts of a
/// window. A counter grows steadily.
class GrowthWatch {
 public:
  /// Adds a value. Returns true if the values so far may come from a counter.
  bool is_counter(const Count& count);
  /// True if the latest value exceeds the one before, and no value has fallen a little.
  [[nodiscard]] bool is_growing() const { return grew_ && falls_ == 0; }
  /// Adds a value of the episode `count.epoch`. Returns true if the values are no lengths of
  /// episodes: they grow within an episode, or have often grown and never fallen. Lengths of
  /// episodes also grow for a while.
  bool is_no_length(const Count& count);
  /// Returns false once the total has changed while the value has not: `Batch 0/100` and then
  /// `Batch 0/200` do not show a position in a total.
  bool may_be_position(const Count& count);

 private:
  std::optional<Count> first_;
  std::optional<Count> last_;
  bool grew_ = false;       ///< with the latest value
  int growths_ = 0;         ///< in a row
  int falls_ = 0;           ///< falls that are too small for a restart
  int growths_inside_ = 0;  ///< within one episode
  int falls_inside_ = 0;
  bool stood_still_ = false;  ///< within one epoch
  bool is_no_position_ = false;
};

/// Chooses the counter of the trial's steps among several, such as an outer and an inner progress
/// bar, or `step` and `iter`. The counter with the highest value leads. Exception: a counter that
/// is more than twice as high as one of a higher rank counts parts of steps (micro-batches). Then
/// the other counter leads. A counter that has hardly grown loses the lead to a growing one. Stores
/// at most `k_most_counters` counters.
class CounterSet {
 public:
  /// Adds a value. Returns the cumulative count if this counter leads; otherwise nullopt. `rank` is
  /// as in `CounterName::rank`.
  std::optional<double> add(const std::string& key, const Count& count, int rank = 0);
  /// Makes this counter the leader until another one exceeds it.
  void lead(const std::string& key);
  /// Removes a counter that turned out not to count steps. If it leads, the next counter takes the
  /// lead.
  void forget(const std::string& key);
  /// True if several programs print one of the counters. That counter is no longer reported.
  [[nodiscard]] bool several_writers() const;
  /// Returns `CumulativeCounter::uncounted_share` of the leading counter.
  [[nodiscard]] double uncounted_share() const;

 private:
  struct Candidate {
    CumulativeCounter counter;
    int rank = 0;
    int growths = 0;
    int passed_over = 0;  ///< growths of any counter since this counter last grew
    [[nodiscard]] bool is_confirmed() const;
    /// True if other counters grew three times while this unconfirmed counter did not.
    [[nodiscard]] bool is_stalled() const;
  };
  [[nodiscard]] bool takes_lead(const Candidate& candidate) const;

  std::map<std::string, Candidate> counters_;
  std::string leader_;
};

}  // namespace steptune
