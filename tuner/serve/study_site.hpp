// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <httplib.h>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "tuner/serve/study_pages.hpp"
#include "tuner/serve/study_watch.hpp"

namespace steptune {

struct SiteOptions {
  std::filesystem::path database;
  std::string database_option;  ///< ` --db PATH` for commands in advice; may be empty
  std::string token;            ///< grants read access to everything
  int port = 0;                 ///< port of the site; part of the cookie's name
  std::string program_version;
};

/// Read-only pages for everybody who has the token:
///
///     /                            all studies
///     /studies/ID                  the report of one study
///     /events, /studies/ID/events  server-sent events: `changed`, `fault`
///     /metrics                     for Prometheus
///     /api/studies                 as `steptune studies --json`
///     /api/studies/ID              as `steptune leaderboard --all --json`
///     /assets/NAME                 scripts and styles of the pages
///
/// Addresses name studies by their number in the database; no part of an address is ever used as a
/// file name. Any thread may call it.
class StudySite {
 public:
  /// `clock` must outlive the site.
  StudySite(SiteOptions options, const Clock& clock);

  void answer(const httplib::Request& request, httplib::Response& response);
  /// Ends open event streams.
  void stop();

 private:
  [[nodiscard]] bool has_token(const httplib::Request& request) const;
  void answer_page(const httplib::Request& request, httplib::Response& response);
  void answer_study(std::int64_t id, std::string_view what, const httplib::Request& request,
                    httplib::Response& response);
  void stream_changes(std::optional<std::int64_t> id, const httplib::Request& request,
                      httplib::Response& response);
  [[nodiscard]] std::string news(std::optional<std::int64_t> id, std::string& version,
                                 std::string& fault);
  /// Waits until it is time to check for changes again. Returns false if the site is stopping.
  [[nodiscard]] bool pause_between_polls();

  const SiteOptions options_;
  const Clock& clock_;
  const std::string cookie_;
  StudyWatch watch_;
  StudyPages pages_;
  std::atomic<int> streams_{0};

  std::mutex stopping_;
  std::condition_variable stopped_;
  bool is_stopping_ = false;
};

}  // namespace steptune
