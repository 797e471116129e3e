// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/candidate_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "common/numbers.hpp"
#include "search/searchers/bayes/gaussian_process.hpp"
#include "search/searchers/point_set.hpp"

namespace steptune::bayes {
namespace {

// Largest number of multiplications of an exhaustive pass, which take some tens of milliseconds.
constexpr double k_exhaustive_work = 4e8;
// Product of drawn points and examples. With more examples, fewer points are drawn, but at least
// 250 and at most 1000.
constexpr std::size_t k_draw_work = 120'000;

/// Effort of a search without an exhaustive pass.
struct Effort {
  std::size_t draws;        ///< random points of the space
  std::size_t climbers;     ///< best candidates from which a local search (a climb) starts
  std::size_t refinements;  ///< random points near the best candidate at each radius
};

/// Returns a smaller effort for more examples, because each candidate then costs more time and less
/// can be gained.
Effort effort_for(std::size_t examples) {
  const std::size_t draws =
      std::clamp<std::size_t>(k_draw_work / std::max<std::size_t>(examples, 1), 250, 1000);
  const bool are_many = examples >= GaussianProcess::k_many_examples;
  return are_many ? Effort{draws, 2, 12} : Effort{draws, 4, 32};
}

/// Calls `evaluate(first, last, values)` for fixed blocks that cover all rows.
template <typename Evaluate>
std::vector<double> by_chunks(const CandidateSearch& search, std::size_t size,
                              const Evaluate& evaluate) {
  std::vector<double> values(size, -k_infinity);
  // A thread evaluates as many rows at a time as the model's matrices have in a block.
  constexpr std::size_t chunk_rows = InverseFactor::k_block;
  const std::size_t chunks = (size + chunk_rows - 1) / chunk_rows;
  const auto evaluate_chunk = [&](std::size_t chunk) {
    const std::size_t first = chunk * chunk_rows;
    const std::size_t last = std::min(first + chunk_rows, size);
    evaluate(first, last, std::span(values).subspan(first, last - first));
  };
  if (search.threads <= 1 || chunks <= 1) {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk)
      evaluate_chunk(chunk);
  } else {
    tbb::task_arena arena(std::min(search.threads, tbb::info::default_concurrency()));
    arena.execute([&] { tbb::parallel_for(std::size_t{0}, chunks, evaluate_chunk); });
  }
  return values;
}

double log_price_of(const CandidateSearch& search, std::span<const double> point) {
  return search.log_price ? search.log_price(point) : 0.0;
}

/// Returns the acquisition's scores minus the logarithms of prices. A score is exact if it exceeds
/// the row's entry of `floors`; otherwise it may be minus infinity.
std::vector<double> scores_of(const CandidateSearch& search, const Candidates& candidates,
                              std::vector<double> floors) {
  std::vector<double> log_prices(candidates.size());
  for (std::size_t i = 0; i < log_prices.size(); ++i) {
    // The acquisition ignores prices, so convert the floors to its scores.
    log_prices[i] = log_price_of(search, candidates.point(i));
    floors[i] += log_prices[i];
  }
  if (!search.prune) floors.clear();
  auto scores = by_chunks(search, candidates.size(), [&](auto first, auto last, auto values) {
    const auto theirs = std::span<const double>(floors);
    search.acquisition.score(candidates.features, first, last,
                             theirs.empty() ? theirs : theirs.subspan(first, last - first), values);
  });
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] = std::isnan(scores[i]) ? -k_infinity : scores[i] - log_prices[i];
  return scores;
}

/// Returns upper bounds of the scores, with a margin for rounding errors; infinite if the
/// acquisition has no cheap bounds.
std::vector<double> bounds_of(const CandidateSearch& search, const Candidates& candidates) {
  if (!search.acquisition.has_cheap_bounds() || !search.prune) {
    return std::vector<double>(candidates.size(), k_infinity);
  }
  auto bounds = by_chunks(search, candidates.size(), [&](auto first, auto last, auto values) {
    search.acquisition.bound(candidates.features, first, last, values);
  });
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    bounds[i] = std::isnan(bounds[i]) ? k_infinity
                                      : bounds[i] + 1e-6 + 1e-9 * std::abs(bounds[i]) -
                                            log_price_of(search, candidates.point(i));
  }
  return bounds;
}

Candidates selected(const Candidates& candidates, std::span<const std::size_t> rows) {
  Candidates result;
  result.features = Matrix(candidates.features.cols());
  for (const std::size_t row : rows) {
    const auto point = candidates.point(row);
    result.points.insert(result.points.end(), point.begin(), point.end());
    result.features.append_row(candidates.features.row(row));
  }
  return result;
}

Point to_point(std::span<const double> row) {
  return {row.begin(), row.end()};
}

/// Returns the `count` best admissible rows above `floor`, best first. Prefers the earlier of two
/// equal rows. Scores rows in descending order of their bounds, until no remaining row can be among
/// the best.
std::vector<BestCandidate> best_of(const CandidateSearch& search, const Candidates& candidates,
                                   std::size_t count, double floor = -k_infinity) {
  const std::vector<double> bounds = bounds_of(search, candidates);
  std::vector<std::size_t> order(bounds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return bounds[a] > bounds[b]; });
  struct Scored {
    double score;
    std::size_t row;
  };
  std::vector<Scored> best;
  PointSet taken;
  // The first batch has the rows of one thread. After each batch, check if other rows can still be
  // better; the next batch is twice as large.
  std::size_t batch = InverseFactor::k_block;
  for (std::size_t next = 0; next < order.size(); batch *= 2) {
    const double least = best.size() < count ? floor : std::max(floor, best.back().score);
    std::vector<std::size_t> rows;
    for (; next < order.size() && (rows.size() < batch || bounds[order[next]] == k_infinity);
         ++next) {
      if (bounds[order[next]] < least) {
        next = order.size();
        break;
      }
      const auto point = candidates.point(order[next]);
      if (search.admissible(point) && taken.insert(point)) rows.push_back(order[next]);
    }
    const std::vector<double> scores =
        scores_of(search, selected(candidates, rows), std::vector<double>(rows.size(), least));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (scores[i] > floor || floor == -k_infinity) best.push_back({scores[i], rows[i]});
    }
    std::ranges::sort(best, [](const Scored& a, const Scored& b) {
      return a.score != b.score ? a.score > b.score : a.row < b.row;
    });
    if (best.size() > count) best.resize(count);
  }
  std::vector<BestCandidate> result;
  result.reserve(best.size());
  for (const Scored& scored : best)
    result.push_back({to_point(candidates.point(scored.row)), scored.score});
  return result;
}

/// Adds up to `count` random points near `centre`, at distances of about `radius` in its ordered
/// parameters. Leaves out points that violate constraints.
void add_perturbed(const CandidateSearch& search, const Point& centre, double radius,
                   std::size_t count, Rng& rng, std::vector<double>& points) {
  const auto& parameters = search.space.parameters();
  for (std::size_t i = 0; i < count; ++i) {
    Point moved = centre;
    for (std::size_t j = 0; j < moved.size(); ++j) {
      if (moved[j] == k_inactive || parameters[j].unordered()) continue;
      moved[j] = std::clamp(moved[j] + radius * rng.normal(), 0.0, 1.0);
    }
    if (search.space.snap(moved)) points.insert(points.end(), moved.begin(), moved.end());
  }
}

std::vector<BestCandidate> best_of_points(const CandidateSearch& search, std::vector<double> points,
                                          std::size_t count, double floor = -k_infinity) {
  Candidates candidates;
  candidates.points = std::move(points);
  candidates.features = search.feature_map.rows(candidates.points);
  return best_of(search, candidates, count, floor);
}

struct Climber {
  BestCandidate at;
  PointSet seen;  ///< neighbours already considered; no admissible one is better than `at`
  bool moving = true;
};

/// Appends to `points` the admissible neighbours that the climber has not seen.
void add_neighbours(const CandidateSearch& search, Climber& climber, std::vector<double>& points) {
  const auto around = search.space.neighbour_points(climber.at.point);
  const std::size_t width = search.feature_map.coordinates();
  for (std::size_t begin = 0; begin < around.size(); begin += width) {
    const auto point = std::span(around).subspan(begin, width);
    if (climber.seen.insert(point) && search.admissible(point)) {
      points.insert(points.end(), point.begin(), point.end());
    }
  }
}

/// If several climbers are at one point, stops all but one, because they would make the same moves.
void stop_followers(std::vector<Climber>& climbers) {
  PointSet places;
  for (Climber& climber : climbers) {
    if (!places.insert(climber.at.point)) climber.moving = false;
  }
}

/// Moves each climber to its best neighbour, at most 12 times. A climber stops if no neighbour is
/// better.
void climb(const CandidateSearch& search, std::vector<Climber>& climbers) {
  for (int moves = 0; moves < 12; ++moves) {
    // Score the neighbours of all climbers together, because small batches cost more for each
    // point.
    Candidates neighbours;
    std::vector<std::size_t> ends(climbers.size());
    for (std::size_t k = 0; k < climbers.size(); ++k) {
      if (climbers[k].moving) add_neighbours(search, climbers[k], neighbours.points);
      ends[k] = neighbours.points.size() / search.feature_map.coordinates();
    }
    if (neighbours.points.empty()) break;
    neighbours.features = search.feature_map.rows(neighbours.points);
    const std::vector<double> bounds = bounds_of(search, neighbours);
    std::vector<std::size_t> rows;
    std::vector<std::size_t> climber_of;
    std::vector<double> floors;
    for (std::size_t k = 0, row = 0; k < climbers.size(); ++k) {
      climbers[k].moving = false;
      for (; row < ends[k]; ++row) {
        if (!(bounds[row] > climbers[k].at.score)) continue;
        rows.push_back(row);
        climber_of.push_back(k);
        floors.push_back(climbers[k].at.score);
      }
    }
    const std::vector<double> scores =
        scores_of(search, selected(neighbours, rows), std::move(floors));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Climber& climber = climbers[climber_of[i]];
      if (!(scores[i] > climber.at.score)) continue;
      climber.at = {to_point(neighbours.point(rows[i])), scores[i]};
      climber.moving = true;
    }
    stop_followers(climbers);
  }
}

bool has_continuous(const SearchSpace& space) {
  return std::any_of(space.parameters().begin(), space.parameters().end(),
                     [](const Parameter& parameter) {
                       return !parameter.unordered() && parameter.level_count().value_or(1000) > 64;
                     });
}

void refine(const CandidateSearch& search, std::size_t count, BestCandidate& best, Rng& rng) {
  double radius = 0.05;
  while (radius > 2e-5) {
    std::vector<double> points;
    add_perturbed(search, best.point, radius, count, rng, points);
    radius *= 0.4;
    auto next = best_of_points(search, std::move(points), 1, best.score);
    if (!next.empty()) best = std::move(next[0]);
  }
}

}  // namespace

std::optional<BestCandidate> find_best_candidate(const CandidateSearch& search, Rng& rng) {
  const Candidates* all = search.pool.all();
  const double examples = static_cast<double>(std::max<std::size_t>(search.examples, 1));
  if (all != nullptr &&
      static_cast<double>(all->size()) * examples * examples <= k_exhaustive_work) {
    auto best = best_of(search, *all, 1);
    if (best.empty()) return std::nullopt;
    return std::move(best[0]);
  }
  const Effort effort = effort_for(search.examples);
  Candidates candidates = search.pool.draw(rng, effort.draws);
  for (const Point& point : search.promising) {
    const auto around = search.space.neighbour_points(point);
    candidates.points.insert(candidates.points.end(), around.begin(), around.end());
    add_perturbed(search, point, 0.1, 32, rng, candidates.points);
    add_perturbed(search, point, 0.01, 32, rng, candidates.points);
  }
  auto starts = best_of_points(search, std::move(candidates.points), effort.climbers);
  // If no point nearby is admissible, score the whole space, whatever that costs.
  if (starts.empty() && all != nullptr) starts = best_of(search, *all, 1);
  if (starts.empty()) return std::nullopt;
  std::vector<Climber> climbers;
  climbers.reserve(starts.size());
  for (BestCandidate& start : starts)
    climbers.push_back({std::move(start), {}, true});
  climb(search, climbers);
  auto best = std::ranges::max_element(climbers, [](const Climber& a, const Climber& b) {
                return a.at.score < b.at.score;
              })->at;
  if (has_continuous(search.space)) refine(search, effort.refinements, best, rng);
  return best;
}

}  // namespace steptune::bayes
