// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/candidate_pool.hpp"

#include <algorithm>

namespace steptune::bayes {

CandidatePool::CandidatePool(const SearchSpace& space, const FeatureMap& features)
    : space_(space), feature_map_(features) {
  if (auto points = space.enumerate_points(k_listed); points && !points->empty()) {
    Matrix rows = features.rows(*points);
    all_ = Candidates{*std::move(points), std::move(rows)};
  }
}

Candidates CandidatePool::draw(Rng& rng, std::size_t count) const {
  const std::size_t width = feature_map_.coordinates();
  Candidates drawn;
  drawn.points.reserve(count * width);
  if (all_) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto point = all_->point(rng.below(all_->size()));
      drawn.points.insert(drawn.points.end(), point.begin(), point.end());
    }
  } else {
    const std::size_t attempts = 4 * count;
    for (std::size_t i = 0; i < attempts && drawn.points.size() < count * width; ++i) {
      const auto point = space_.draw(rng);
      if (point) drawn.points.insert(drawn.points.end(), point->begin(), point->end());
    }
    if (drawn.points.empty()) {
      if (const auto found = space_.sample(rng)) drawn.points = space_.encode(*found);
    }
  }
  drawn.features = feature_map_.rows(drawn.points);
  return drawn;
}

}  // namespace steptune::bayes
