// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/serve/study_figures.hpp"
#include "tuner/serve/study_watch.hpp"

namespace steptune {

/// Makes the pages and figures of studies from the database, one at a time. Caches figures and at
/// most eight pages until their study changes. Any thread may call any function. Errors:
/// `unavailable` if earlier calls take too long, `not_found` if there is no such study, and the
/// database's errors.
class StudyPages {
 public:
  /// `database_option`: ` --db PATH` for commands in advice; may be empty. `watch` must outlive the
  /// object.
  StudyPages(std::filesystem::path database, std::string database_option, StudyWatch& watch);

  /// Returns the HTML report of a study.
  [[nodiscard]] Result<std::string> page(std::int64_t id);
  /// Returns the JSON of `steptune leaderboard --all --json`. Returns a `usage` error if the study
  /// has too many trials.
  [[nodiscard]] Result<std::string> leaderboard_text(std::int64_t id);
  [[nodiscard]] Result<std::vector<StudyFigures>> all_figures();

 private:
  struct Page {
    std::string version;
    std::string html;
  };
  struct Figures {
    std::string version;
    StudyFigures figures;
  };

  /// Returns `unavailable` after waiting some seconds for other threads.
  [[nodiscard]] Result<std::unique_lock<std::timed_mutex>> lock_for_reading();
  [[nodiscard]] Result<std::string> made_page(std::int64_t id, const std::string& version);
  [[nodiscard]] Result<StoredStudy> open_study(std::int64_t id) const;

  const std::filesystem::path database_;
  const std::string database_option_;
  StudyWatch& watch_;
  std::timed_mutex reading_;  ///< guards `pages_` and `figures_`; held while making a page
  std::map<std::int64_t, Page> pages_;
  std::map<std::int64_t, Figures> figures_;
};

}  // namespace steptune
