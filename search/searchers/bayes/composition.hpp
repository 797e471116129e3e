// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace steptune::bayes {

/// How the parts of a training step make up the whole.
enum class Structure {
  sum,      ///< parts that follow each other
  maximum,  ///< parts that overlap: as long as the longest
  /// One part is the wait for work that runs beside another part (data are loaded during the
  /// compute): the longer of both, and all other parts.
  hidden
};

struct Composition {
  Structure structure = Structure::sum;
  std::size_t hidden = 0;  ///< `hidden`: the part that is a wait; composed from the work behind it
  std::size_t cover = 0;   ///< `hidden`: the part beside which that work runs
  /// `hidden`: where this feature has this value nothing runs beside anything (no prefetching).
  std::optional<std::pair<std::size_t, double>> sequential;

  [[nodiscard]] bool hides(std::span<const double> features) const {
    return structure == Structure::hidden &&
           !(sequential && features[sequential->first] == sequential->second);
  }
  bool operator==(const Composition&) const = default;
};

/// The whole, from seconds of each part. `hides`: whether the longer of the two works counts.
[[nodiscard]] double compose(const Composition& composition, std::span<const double> parts,
                             bool hides);

/// Quasi-random draws of independent standard normal variables, the same for all candidates: what
/// compositions are averaged over. Each variable has mean 0 and variance 1 over the draws.
class NormalDraws {
 public:
  NormalDraws(std::size_t draws, std::size_t variables);
  [[nodiscard]] std::size_t draws() const { return draws_; }
  /// Of one draw, one value per variable.
  [[nodiscard]] std::span<const double> draw(std::size_t k) const {
    return {values_.data() + k * variables_, variables_};
  }

 private:
  std::size_t draws_;
  std::size_t variables_;
  std::vector<double> values_;
};

}  // namespace steptune::bayes
