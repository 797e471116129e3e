// SPDX-License-Identifier: Apache-2.0
// Gradient boosting with one stump a round. A worker thread searches each half of the features.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

using Column = std::vector<double>;

struct Split {
  std::size_t feature = 0;
  double threshold = 0;
  double left = 0;
  double right = 0;
  double gain = -1;
};

struct Table {
  std::vector<Column> features;
  Column target;
};

static Table make_table(std::size_t rows, std::size_t columns) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  Table table{std::vector<Column>(columns, Column(rows)), Column(rows)};
  for (Column& column : table.features) {
    for (double& value : column)
      value = uniform(random);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    table.target[i] = std::sin(6 * table.features[0][i]) + table.features[1][i];
  }
  return table;
}

// Returns a new column, as functional code does.
static Column residual(const Column& target, const Column& score) {
  Column out(target.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = target[i] - score[i];
  return out;
}

static Column masked(const Column& values, const Column& feature, double threshold) {
  Column out(values.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = feature[i] < threshold ? values[i] : 0;
  return out;
}

static double sum(const Column& values) {
  double total = 0;
  for (double value : values)
    total += value;
  return total;
}

static Split best_split(const Table& table, const Column& gradient, std::size_t first,
                        std::size_t last, double threshold) {
  Split best;
  const double all = sum(gradient);
  const auto rows = static_cast<double>(gradient.size());
  for (std::size_t f = first; f < last; ++f) {
    const double below = sum(masked(gradient, table.features[f], threshold));
    const double share = threshold;
    const double left = below / (rows * share);
    const double right = (all - below) / (rows * (1 - share));
    const double gain = left * left * share + right * right * (1 - share);
    if (gain > best.gain) {
      best = {f, threshold, left, right, gain};
    }
  }
  return best;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::stoi(argv[1]) : 20000;
  const Table table = make_table(4300000, 2);
  Column score(table.target.size());
  std::mt19937 random(9);
  for (int round = 1; round <= rounds; ++round) {
    const Column gradient = residual(table.target, score);
    const double threshold = std::uniform_real_distribution<double>(0.2, 0.8)(random);
    Split halves[2];
    std::thread other([&] { halves[1] = best_split(table, gradient, 1, 2, threshold); });
    halves[0] = best_split(table, gradient, 0, 1, threshold);
    other.join();
    const Split& split = halves[0].gain > halves[1].gain ? halves[0] : halves[1];
    double loss = 0;
    for (std::size_t i = 0; i < score.size(); ++i) {
      score[i] +=
          0.1 * (table.features[split.feature][i] < split.threshold ? split.left : split.right);
      loss += std::abs(gradient[i]);
    }
    std::cout << "[" << round << "] train-mae:" << loss / static_cast<double>(score.size())
              << std::endl;
  }
}
