// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/group_regression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/rng.hpp"
#include "tuner/analysis/vector_sums.hpp"

namespace steptune {
namespace {

/// Length of the sampler. With a dozen observations, a long run is needed, because the sampler
/// moves slowly between explanations. On a known function with 40 or more observations, a short run
/// was as good as a long run: over seeds, their means and bounds deviated by the same amount.
/// `k_few_observations` leaves a margin above that number.
struct Length {
  int burn_in;
  int sweeps;
  int kept_every;
};
constexpr Length k_short{100, 600, 3};
constexpr Length k_long{200, 1000, 5};
constexpr std::size_t k_few_observations = 100;

/// Prior variances of a group's coefficients, as shares of the variance of the values.
constexpr std::array k_slabs{0.001, 0.004, 0.016, 0.06, 0.25, 1.0, 4.0};

/// A square matrix, stored by rows.
struct Square {
  std::size_t size = 0;
  std::vector<double> cells;
  explicit Square(std::size_t n) : size(n), cells(n * n, 0.0) {}
  double& at(std::size_t i, std::size_t j) { return cells[i * size + j]; }
  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return cells[i * size + j]; }
  /// Copies the lower triangle to the upper triangle.
  void mirror() {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < i; ++j)
        at(j, i) = at(i, j);
    }
  }
  void transpose() {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < i; ++j)
        std::swap(at(j, i), at(i, j));
    }
  }
};

/// One number for each slab, and a zero at the end, because vector units process eight numbers at
/// once.
using Slabs = std::array<double, k_slabs.size() + 1>;

/// Computes for each slab how well its prior variance suits a group. Multiplies `ratios` by the
/// shrinkage factors and adds the explained squares to `fits`.
STEPTUNE_BY_VECTORS void weigh_slabs(const Slabs& priors, const double* left,
                                     const double* information, std::size_t size,
                                     double* __restrict__ ratios, double* __restrict__ fits) {
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t s = 0; s < priors.size(); ++s) {
      const double shrunk = 1.0 + priors[s] * information[a];
      ratios[s] *= shrunk;
      fits[s] += priors[s] * left[a] * left[a] / shrunk;
    }
  }
}

/// Returns the eigenvectors of a symmetric matrix as columns, by Jacobi's cyclic rotations (Golub
/// and Van Loan, "Matrix Computations", section 8.5). `matrix` becomes diagonal.
Square eigenvectors(Square& matrix) {
  const std::size_t n = matrix.size;
  Square vectors(n);
  for (std::size_t i = 0; i < n; ++i)
    vectors.at(i, i) = 1.0;
  const auto turn = [n](Square& m, std::size_t p, std::size_t q, double c, double s) {
    for (std::size_t k = 0; k < n; ++k) {
      const double a = m.at(k, p);
      const double b = m.at(k, q);
      m.at(k, p) = c * a - s * b;
      m.at(k, q) = s * a + c * b;
    }
  };
  constexpr int k_most_cycles = 12;
  for (int cycle = 0; cycle < k_most_cycles; ++cycle) {
    double rest = 0.0;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double off = matrix.at(p, q);
        const double scale = std::abs(matrix.at(p, p)) + std::abs(matrix.at(q, q));
        if (std::abs(off) <= 1e-14 * scale) continue;
        rest = std::max(rest, std::abs(off) / scale);
        const double tau = (matrix.at(q, q) - matrix.at(p, p)) / (2.0 * off);
        const double t = (tau >= 0.0 ? 1.0 : -1.0) / (std::abs(tau) + std::hypot(1.0, tau));
        const double c = 1.0 / std::hypot(1.0, t);
        const double s = t * c;
        turn(matrix, p, q, c, s);
        for (std::size_t k = 0; k < n; ++k) {
          const double a = matrix.at(p, k);
          const double b = matrix.at(q, k);
          matrix.at(p, k) = c * a - s * b;
          matrix.at(q, k) = s * a + c * b;
        }
        turn(vectors, p, q, c, s);
      }
    }
    if (rest < 1e-12) break;
  }
  return vectors;
}

class Sampler {
 public:
  explicit Sampler(const GroupRegressionInput& input)
      : input_(input), rng_(0, "effects"), width_(input.starts.back()), gram_(width_) {
    center();
    sum_products();
    rotate();
    coefficients_.assign(width_, 0.0);
    gradient_ = products_;
    variance_ = total_ / weight_;
    for (const double chance : input.inclusion)
      priors_.emplace_back(1.0 - chance, chance / static_cast<double>(k_slabs.size()));
  }

  GroupRegression run() {
    // The groups may explain most of the variance. A low start then reaches typical values sooner.
    residual_ = 0.1 * variance_;
    const Length length = input_.values.size() < k_few_observations ? k_long : k_short;
    for (int sweep = 0; sweep < length.burn_in + length.sweeps; ++sweep) {
      for (std::size_t group = 0; group + 1 < input_.starts.size(); ++group)
        draw_group(group);
      draw_residual_variance();
      const int since = sweep - length.burn_in;
      if (since >= 0 && since % length.kept_every == 0) keep();
    }
    return std::move(result_);
  }

 private:
  void center() {
    const std::size_t count = input_.values.size();
    result_.column_means.assign(width_, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
      weight_ += input_.weights[i];
      result_.value_mean += input_.weights[i] * input_.values[i];
      add_multiple(result_.column_means.data(), &input_.columns[i * width_], input_.weights[i],
                   width_);
    }
    result_.value_mean /= weight_;
    for (double& mean : result_.column_means)
      mean /= weight_;
    columns_ = input_.columns;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < width_; ++j) {
        double& cell = columns_[i * width_ + j];
        cell = (cell - result_.column_means[j]) * input_.scales[j];
      }
    }
  }

  void sum_products() {
    products_.assign(width_, 0.0);
    // Add several rows at once, so that each cell of the matrix is accessed less often.
    constexpr std::size_t k_rows = 4;
    columns_.resize((input_.values.size() + k_rows - 1) / k_rows * k_rows * width_, 0.0);
    for (std::size_t i = 0; i < input_.values.size(); i += k_rows) {
      std::array<const double*, k_rows> rows{};
      std::array<double, k_rows> weights{};
      std::array<double, k_rows> values{};
      for (std::size_t r = 0; r < k_rows; ++r) {
        rows[r] = &columns_[(i + r) * width_];
        if (i + r >= input_.values.size()) continue;
        weights[r] = input_.weights[i + r];
        values[r] = input_.values[i + r] - result_.value_mean;
        total_ += weights[r] * values[r] * values[r];
      }
      for (std::size_t a = 0; a < width_; ++a) {
        std::array<double, k_rows> weighted{};
        for (std::size_t r = 0; r < k_rows; ++r) {
          weighted[r] = weights[r] * rows[r][a];
          products_[a] += weighted[r] * values[r];
        }
        add_products(&gram_.at(a, 0), rows, weighted, a + 1);
      }
    }
    gram_.mirror();
    columns_.clear();
  }

  /// Rotates each group's columns to be uncorrelated. Only the products of the columns are rotated,
  /// because the columns themselves have a row for each observation.
  void rotate() {
    for (std::size_t group = 0; group + 1 < input_.starts.size(); ++group) {
      const std::size_t begin = input_.starts[group];
      const std::size_t size = input_.starts[group + 1] - begin;
      Square block(size);
      for (std::size_t a = 0; a < size; ++a)
        std::copy_n(&gram_.at(begin + a, begin), size, &block.at(a, 0));
      rotations_.push_back(eigenvectors(block));
    }
    turn(products_.data());
    for (int side = 0; side < 2; ++side) {
      for (std::size_t row = 0; row < width_; ++row)
        turn(&gram_.at(row, 0));
      gram_.transpose();
    }
  }

  /// Rotates a row of all columns.
  void turn(double* row) const {
    std::vector<double> turned(width_, 0.0);
    for (std::size_t group = 0; group + 1 < input_.starts.size(); ++group) {
      const std::size_t begin = input_.starts[group];
      const Square& rotation = rotations_[group];
      for (std::size_t a = 0; a < rotation.size; ++a)
        add_multiple(turned.data() + begin, &rotation.cells[a * rotation.size], row[begin + a],
                     rotation.size);
    }
    std::ranges::copy(turned, row);
  }

  /// Draws the group's inclusion, scale and coefficients, given all other groups.
  void draw_group(std::size_t group) {
    const std::size_t begin = input_.starts[group];
    const std::size_t end = input_.starts[group + 1];
    left_.resize(end - begin);
    information_.resize(end - begin);
    Slabs priors{};
    for (std::size_t s = 0; s < k_slabs.size(); ++s)
      priors[s] = k_slabs[s] * variance_;
    Slabs ratios;
    ratios.fill(1.0);
    Slabs fits{};
    for (std::size_t a = begin; a < end; ++a) {
      // Within the group the columns are uncorrelated, except for rounding.
      const double left = (gradient_[a] + gram_.at(a, a) * coefficients_[a]) / residual_;
      const double information = std::max(0.0, gram_.at(a, a)) / residual_;
      left_[a - begin] = left;
      information_[a - begin] = information;
    }
    weigh_slabs(priors, left_.data(), information_.data(), left_.size(), ratios.data(),
                fits.data());
    // Divide by the best fit's weight, so that the weights cannot overflow.
    const double best_fit = *std::ranges::max_element(fits);
    std::array<double, k_slabs.size() + 1> chances{};
    chances[0] = priors_[group].first * std::exp(-0.5 * best_fit);
    for (std::size_t s = 0; s < k_slabs.size(); ++s)
      chances[s + 1] =
          priors_[group].second * std::exp(0.5 * (fits[s] - best_fit)) / std::sqrt(ratios[s]);
    const std::size_t chosen = draw_index(chances);
    for (std::size_t a = begin; a < end; ++a) {
      double drawn = 0.0;
      if (chosen > 0) {
        const double precision = information_[a - begin] + 1.0 / (k_slabs[chosen - 1] * variance_);
        drawn = left_[a - begin] / precision + rng_.normal() / std::sqrt(precision);
      }
      set_coefficient(a, drawn);
    }
  }

  void set_coefficient(std::size_t column, double value) {
    const double change = value - coefficients_[column];
    if (change == 0.0) return;
    coefficients_[column] = value;
    add_multiple(gradient_.data(), &gram_.cells[column * width_], -change, width_);
  }

  template <std::size_t N>
  std::size_t draw_index(const std::array<double, N>& chances) {
    double at = rng_.uniform() * std::accumulate(chances.begin(), chances.end(), 0.0);
    for (std::size_t i = 0; i < N; ++i) {
      at -= chances[i];
      if (at < 0.0) return i;
    }
    return N - 1;
  }

  /// Draws from an inverse gamma distribution, with a lower limit. Even if a second-order model
  /// fits all measurements, it is wrong by a twentieth of the spread for other configurations.
  /// Without the limit, effects that the samples hardly distinguish would look precise.
  void draw_residual_variance() {
    double explained = 0.0;
    for (std::size_t a = 0; a < width_; ++a)
      explained += coefficients_[a] * (products_[a] + gradient_[a]);
    constexpr double k_least_share = 0.0025;
    const double squares = std::max(0.0, total_ - explained);
    const double shape = 1.0 + 0.5 * static_cast<double>(input_.values.size() - 1);
    residual_ = std::max(0.5 * squares / gamma(shape), k_least_share * variance_);
  }

  /// Draws a gamma variable of scale 1. `shape` is at least 1. Marsaglia and Tsang, "A simple
  /// method for generating gamma variables", ACM TOMS 26(3), 2000.
  double gamma(double shape) {
    const double d = shape - 1.0 / 3.0;
    for (;;) {
      const double x = rng_.normal();
      const double root = 1.0 + x / std::sqrt(9.0 * d);
      if (root <= 0.0) continue;
      const double v = root * root * root;
      const double u = 1.0 - rng_.uniform();
      if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
  }

  /// Stores the coefficients, converted to the original columns.
  void keep() {
    std::vector<double> row(width_, 0.0);
    for (std::size_t group = 0; group + 1 < input_.starts.size(); ++group) {
      const std::size_t begin = input_.starts[group];
      const std::size_t size = input_.starts[group + 1] - begin;
      for (std::size_t a = 0; a < size; ++a) {
        double sum = 0.0;
        for (std::size_t b = 0; b < size; ++b)
          sum += rotations_[group].at(a, b) * coefficients_[begin + b];
        row[begin + a] = sum * input_.scales[begin + a];
      }
    }
    result_.coefficients.push_back(std::move(row));
    result_.residual_variances.push_back(residual_);
    // A sample of small weight has more residual variance than one of weight 1.
    const double mean_weight = weight_ / static_cast<double>(input_.values.size());
    result_.explained.push_back(std::max(0.0, 1.0 - residual_ / (mean_weight * variance_)));
  }

  const GroupRegressionInput& input_;
  Rng rng_;
  std::size_t width_;
  Square gram_;                   ///< products of the rotated columns with each other
  std::vector<double> products_;  ///< products of the rotated columns with the values
  std::vector<Square> rotations_;
  std::vector<double> columns_;
  std::vector<double> coefficients_;  ///< coefficients of the rotated columns
  std::vector<double> gradient_;      ///< products of the columns with the residuals
  /// Products of a group's columns with the residuals without the group, divided by `residual_`.
  std::vector<double> left_;
  /// Precision with which the values determine each of the group's coefficients, given all other
  /// coefficients.
  std::vector<double> information_;
  /// Prior probabilities of each group: excluded, and included with one of the slabs.
  std::vector<std::pair<double, double>> priors_;
  double weight_ = 0.0;    ///< sum of the weights
  double total_ = 0.0;     ///< weighted sum of squares of the values
  double variance_ = 0.0;  ///< variance of the values
  double residual_ = 0.0;  ///< variance at weight 1
  GroupRegression result_;
};

}  // namespace

GroupRegression regress_on_groups(const GroupRegressionInput& input) {
  return Sampler(input).run();
}

}  // namespace steptune
