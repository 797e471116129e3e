// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/candidate_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "search/searchers/bayes/point_set.hpp"

namespace steptune::bayes {
namespace {

constexpr double k_never = -std::numeric_limits<double>::infinity();
// Multiplications that an exhaustive pass may cost: some tens of milliseconds.
constexpr double k_exhaustive_work = 4e8;
constexpr std::size_t k_chunk = 256;
constexpr std::size_t k_most_draws = 1000;
constexpr std::size_t k_fewest_draws = 250;
// Draws times examples, above which there are fewer draws.
constexpr std::size_t k_draw_work = 120'000;
constexpr std::size_t k_climbers = 4;
constexpr int k_climbs = 12;

std::vector<double> scores_of(const CandidateSearch& search, const Candidates& candidates) {
  std::vector<double> scores(candidates.size(), k_never);
  const std::size_t chunks = (candidates.size() + k_chunk - 1) / k_chunk;
  const auto score_chunk = [&](std::size_t chunk) {
    const std::size_t first = chunk * k_chunk;
    const std::size_t last = std::min(first + k_chunk, candidates.size());
    search.surrogate.score(candidates.features, first, last,
                           std::span(scores).subspan(first, last - first));
  };
  if (search.threads <= 1 || chunks <= 1) {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk)
      score_chunk(chunk);
  } else {
    tbb::task_arena arena(std::min(search.threads, tbb::info::default_concurrency()));
    arena.execute([&] { tbb::parallel_for(std::size_t{0}, chunks, score_chunk); });
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) scores[i] = k_never;
    if (search.log_price) scores[i] -= search.log_price(candidates.point(i));
  }
  return scores;
}

Point to_point(std::span<const double> row) {
  return {row.begin(), row.end()};
}

/// The `count` best admissible rows, best first; of equal ones the earlier.
std::vector<BestCandidate> best_of(const CandidateSearch& search, const Candidates& candidates,
                                   std::size_t count) {
  const std::vector<double> scores = scores_of(search, candidates);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  std::vector<BestCandidate> best;
  PointSet taken;
  for (const std::size_t row : order) {
    if (best.size() == count) break;
    const auto point = candidates.point(row);
    if (search.admissible(point) && taken.insert(point)) {
      best.push_back({to_point(point), scores[row]});
    }
  }
  return best;
}

/// Points close to `centre` in its continuous parameters, ever closer.
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
                                          std::size_t count) {
  Candidates candidates;
  candidates.points = std::move(points);
  candidates.features = search.feature_map.rows(candidates.points);
  return best_of(search, candidates, count);
}

/// Each climber moves to its best neighbour for as long as that is an improvement.
void climb(const CandidateSearch& search, std::vector<BestCandidate>& climbers) {
  std::vector<bool> moving(climbers.size(), true);
  for (int round = 0; round < k_climbs; ++round) {
    // The neighbours of all climbers are scored together: small batches cost more each.
    Candidates neighbours;
    std::vector<std::size_t> ends(climbers.size());
    for (std::size_t k = 0; k < climbers.size(); ++k) {
      if (moving[k]) {
        const auto around = search.space.neighbour_points(climbers[k].point);
        neighbours.points.insert(neighbours.points.end(), around.begin(), around.end());
      }
      ends[k] = neighbours.points.size() / search.feature_map.coordinates();
    }
    if (neighbours.points.empty()) break;
    neighbours.features = search.feature_map.rows(neighbours.points);
    const std::vector<double> scores = scores_of(search, neighbours);
    for (std::size_t k = 0, row = 0; k < climbers.size(); ++k) {
      moving[k] = false;
      for (; row < ends[k]; ++row) {
        if (!(scores[row] > climbers[k].score) || !search.admissible(neighbours.point(row)))
          continue;
        climbers[k] = {to_point(neighbours.point(row)), scores[row]};
        moving[k] = true;
      }
    }
  }
}

bool has_continuous(const SearchSpace& space) {
  return std::any_of(space.parameters().begin(), space.parameters().end(),
                     [](const Parameter& parameter) {
                       return !parameter.unordered() && parameter.level_count().value_or(1000) > 64;
                     });
}

void refine(const CandidateSearch& search, BestCandidate& best, Rng& rng) {
  for (double radius = 0.05; radius > 2e-5; radius *= 0.4) {
    std::vector<double> points;
    add_perturbed(search, best.point, radius, 32, rng, points);
    auto next = best_of_points(search, std::move(points), 1);
    if (!next.empty() && next[0].score > best.score) best = std::move(next[0]);
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
  const std::size_t affordable = k_draw_work / std::max<std::size_t>(search.examples, 1);
  Candidates candidates =
      search.pool.draw(rng, std::clamp(affordable, k_fewest_draws, k_most_draws));
  for (const Point& point : search.promising) {
    const auto around = search.space.neighbour_points(point);
    candidates.points.insert(candidates.points.end(), around.begin(), around.end());
    add_perturbed(search, point, 0.1, 32, rng, candidates.points);
    add_perturbed(search, point, 0.01, 32, rng, candidates.points);
  }
  auto climbers = best_of_points(search, std::move(candidates.points), k_climbers);
  climb(search, climbers);
  if (climbers.empty()) {
    // Everything nearby is taken: the whole list decides, whatever that costs.
    if (all != nullptr) climbers = best_of(search, *all, 1);
    if (climbers.empty()) return std::nullopt;
  }
  auto best = *std::max_element(
      climbers.begin(), climbers.end(),
      [](const BestCandidate& a, const BestCandidate& b) { return a.score < b.score; });
  if (has_continuous(search.space)) refine(search, best, rng);
  return best;
}

}  // namespace steptune::bayes
