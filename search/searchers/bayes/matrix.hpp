// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace steptune::bayes {

/// A dense row-major matrix, passed between parts of the Bayesian searcher. Only
/// `linear_algebra_eigen.cpp` includes Eigen.
class Matrix {
 public:
  Matrix() = default;
  explicit Matrix(std::size_t cols) : cols_(cols) {}
  Matrix(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols), values_(rows * cols) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  [[nodiscard]] double& operator()(std::size_t row, std::size_t col) {
    return values_[row * cols_ + col];
  }
  [[nodiscard]] double operator()(std::size_t row, std::size_t col) const {
    return values_[row * cols_ + col];
  }
  [[nodiscard]] std::span<const double> row(std::size_t row) const {
    return {values_.data() + row * cols_, cols_};
  }
  [[nodiscard]] std::span<double> row(std::size_t row) {
    return {values_.data() + row * cols_, cols_};
  }
  /// Appends a row of zeros.
  std::span<double> append_row() {
    values_.resize(rows_ * cols_);
    values_.resize((rows_ + 1) * cols_);
    return row(rows_++);
  }
  void append_row(std::span<const double> row) { std::ranges::copy(row, append_row().begin()); }
  /// Changes the shape; the values are undefined afterwards. Never frees or clears memory.
  void reshape(std::size_t rows, std::size_t cols) {
    rows_ = rows;
    cols_ = cols;
    if (values_.size() < rows * cols) values_.resize(rows * cols);
  }
  void reserve_rows(std::size_t rows) { values_.reserve(rows * cols_); }
  [[nodiscard]] const double* data() const { return values_.data(); }
  [[nodiscard]] double* data() { return values_.data(); }

 private:
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::vector<double> values_;
};

/// Rows of features stored by feature, so that the distances of one point from all rows are
/// computed in one pass.
class FeatureColumns {
 public:
  explicit FeatureColumns(const Matrix& features) : columns_(features.cols()) {
    for (std::vector<double>& column : columns_)
      column.reserve(features.rows());
    for (std::size_t row = 0; row < features.rows(); ++row)
      append(features.row(row));
  }

  void append(std::span<const double> row) {
    for (std::size_t f = 0; f < columns_.size(); ++f)
      columns_[f].push_back(row[f]);
    ++rows_;
  }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::span<const double> column(std::size_t feature) const {
    return columns_[feature];
  }

 private:
  std::size_t rows_ = 0;
  std::vector<std::vector<double>> columns_;
};

}  // namespace steptune::bayes
