// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace steptune {

/// What a line told about one counter.
struct Count {
  double value = 0.0;
  std::optional<double> total;  ///< `100` of `12/100`
  std::optional<double> epoch;
  /// The counter is known to start again with each epoch (progress bars); otherwise a restart is
  /// recognised by the value going back.
  bool per_epoch = false;
};

/// Makes a counter that starts again with each epoch cumulative. Small steps back, as from several
/// ranks that print in turn, are no restart: the counter then stands still. Large ones between two
/// lines that go on are those of several programs, each with its own count.
class CumulativeCounter {
 public:
  double add(const Count& count);
  [[nodiscard]] double value() const { return base_ + last_; }
  /// Whether the counts are those of two programs that both go on, far apart, however many lines of
  /// the one come between two of the other: no cumulative count can be made of that.
  [[nodiscard]] bool several_writers() const { return several_writers_; }
  /// The largest share of an epoch that may come after its last line, uncounted, because no line
  /// tells how long it is; 0 until the count has started again twice.
  [[nodiscard]] double uncounted_share() const { return uncounted_share_; }

 private:
  void start_again(double value);
  [[nodiscard]] bool restarted(const Count& count);
  void note_writers(double value);

  double base_ = 0.0;
  double last_ = 0.0;
  bool has_begun_ = false;
  double spacing_ = 0.0;  ///< the largest between two lines of one epoch
  double latest_spacing_ = 0.0;
  int restarts_ = 0;
  bool spans_epochs_ = false;  ///< has gone on from one epoch into the next
  double uncounted_share_ = 0.0;
  std::optional<double> total_;
  std::optional<double> epoch_;
  /// Of what is told, the latest, and were it of two programs, where each of them is.
  double latest_ = 0.0;
  double ahead_ = 0.0;
  double behind_ = 0.0;
  int went_forth_ = 0;  ///< from the one behind to the one ahead, since both go on
  bool several_writers_ = false;
};

/// What to tell people of such a counter: its name, what was seen and the remedy.
[[nodiscard]] std::string several_writers_fault(std::string_view counter);
/// The same of epochs of which such shares come uncounted, of the first count that loses one;
/// nothing where both are too small to matter.
[[nodiscard]] std::optional<std::string> uncounted_note(double share_of_steps,
                                                        double share_of_samples);

/// Tells a counter from a size or the count of a window, which have the same names: a counter grows
/// steadily.
class GrowthWatch {
 public:
  /// Returns true if this value and those before it are a counter's.
  bool is_counter(const Count& count);
  /// Returns false from the first line on in which the total alone has changed: `Batch 0/100` and
  /// then `Batch 0/200` do not show a position of a total.
  bool may_be_position(const Count& count);

 private:
  std::optional<Count> first_;
  std::optional<Count> last_;
  int growths_ = 0;           ///< in a row
  int falls_ = 0;             ///< that are too small for a restart
  bool stood_still_ = false;  ///< within one epoch
  bool is_no_position_ = false;
};

/// Chooses among several counters (an outer and an inner progress bar, `step` and `iter`) the one
/// that counts the trial's steps: of the highest rank, and among equals the furthest. A counter
/// that has hardly grown loses the lead to one that grows. Holds at most 16 counters.
class CounterSet {
 public:
  /// Returns the cumulative count if this counter leads, otherwise nothing.
  std::optional<double> add(const std::string& key, const Count& count, int rank = 0);
  /// From here on this counter is the furthest, until another gets beyond it.
  void lead(const std::string& key);
  /// Whether one of them is told by several programs; that one is no longer told.
  [[nodiscard]] bool several_writers() const;
  /// `CumulativeCounter::uncounted_share` of the one that is furthest.
  [[nodiscard]] double uncounted_share() const;

 private:
  struct Candidate {
    CumulativeCounter counter;
    int rank = 0;
    int growths = 0;
    int passed_over = 0;  ///< growths of other counters since its last
    [[nodiscard]] bool is_confirmed() const;
    [[nodiscard]] bool is_stalled() const;
  };
  [[nodiscard]] bool takes_lead(const Candidate& candidate) const;

  std::map<std::string, Candidate> counters_;
  std::string leader_;
};

}  // namespace steptune
