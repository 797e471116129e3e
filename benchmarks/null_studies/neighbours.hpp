// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/rng.hpp"

namespace steptune::null_studies {

/// Other programs that use the machine in bursts. Each is busy for 1 to 6 s, then idle for 1 to 6 s
/// (both uniform), and so on. Each busy neighbour slows every program down by the same factor.
/// Times are in seconds of the study's clock, from 0. Everything follows from the seed. Not thread
/// safe.
class Neighbours {
 public:
  /// `slowness` is the factor on the time of all work for each busy neighbour.
  Neighbours(int count, double slowness, std::uint64_t seed);

  /// Returns the end of work that starts at `from_s` and would take `work_s` seconds on an idle
  /// machine.
  [[nodiscard]] double end_of(double from_s, double work_s);
  /// Returns the amount of work done between two times, as the seconds that it would take on an
  /// idle machine.
  [[nodiscard]] double work_between(double from_s, double to_s);
  /// Returns the seconds between two times in which a neighbour is busy.
  [[nodiscard]] double busy_between(double from_s, double to_s);

 private:
  struct Neighbour {
    Rng rng;
    bool is_busy = false;
    double changes_s = 0.0;  ///< end of this burst, or of this idle time
  };
  /// A period in which the same neighbours are busy.
  struct Stretch {
    double from_s = 0.0;
    double slowness = 1.0;
  };

  [[nodiscard]] double slowness_now() const;
  void add_stretch();
  /// Returns the index of the stretch that contains `time_s`.
  [[nodiscard]] std::size_t stretch_at(double time_s);
  [[nodiscard]] double end_of_stretch(std::size_t index);

  double slowness_;
  std::vector<Neighbour> neighbours_;
  std::vector<Stretch> stretches_;  ///< known so far, in order
};

}  // namespace steptune::null_studies
