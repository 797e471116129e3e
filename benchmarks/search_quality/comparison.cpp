// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/comparison.hpp"

#include <fmt/format.h>

namespace steptune::search_quality {

Result<Comparison> Comparison::open(const std::filesystem::path& stored) {
  Comparison comparison;
  if (stored.empty()) return comparison;
  auto figures = read_figures(stored);
  if (!figures) return tl::unexpected(figures.error());
  comparison.file_ = stored;
  comparison.stored_ = *std::move(figures);
  return comparison;
}

std::string Comparison::add(const Problem& problem, const Campaign& campaign, int trials) {
  constexpr double k_significant = 0.01;
  figures_.push_back({problem.name, campaign.searcher, trials, results_of(problem, campaign)});
  if (file_.empty()) return {};
  const StoredFigures& now = figures_.back();
  const auto* before = find_figures(stored_, now.problem, now.searcher, trials);
  if (before == nullptr) {
    return fmt::format("  {}: no stored figures of {} trials\n", now.searcher, trials);
  }
  const double p = p_value(before->results, now.results);
  if (p < k_significant) worse_ += fmt::format(" {} ({})", now.problem, now.searcher);
  return fmt::format("  {} worse than the stored figures: p = {:.2g}\n", now.searcher, p);
}

Result<void> Comparison::close(const std::filesystem::path& store) const {
  if (!store.empty()) {
    if (auto written = write_figures(store, figures_); !written) return written;
  }
  if (worse_.empty()) return {};
  return fail(ErrorKind::conflict, "worse than the stored figures:" + worse_, file_.string());
}

}  // namespace steptune::search_quality
