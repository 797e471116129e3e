// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/history.hpp"
#include "tuner/history/store.hpp"

namespace steptune {

Result<std::vector<NightRow>> History::nights(const std::string& study) const {
  return store_->catch_errors([&]() -> Result<std::vector<NightRow>> {
    std::vector<NightRow> nights;
    Query query = store_->query(
        "SELECT night, started_wall_s, status, record FROM nights WHERE study = ? ORDER BY night");
    query.bind(study);
    while (query.step()) {
      auto record = parse_json(query.column(3).getString(), store_->path.string());
      if (!record || !record->is_object()) {
        return tl::unexpected(store_->damaged("the record of a night cannot be read"));
      }
      nights.push_back({query.column(0).getInt64(), query.column(1).getDouble(),
                        query.column(2).getString(), *std::move(record)});
    }
    return nights;
  });
}

Result<void> History::record_night(const std::string& study, const NightRow& night) {
  return store_->write([&]() -> Result<void> {
    store_
        ->query(
            "INSERT OR REPLACE INTO nights (study, night, started_wall_s, status, record) "
            "VALUES (?, ?, ?, ?, ?)")
        .bind(study)
        .bind(night.night)
        .bind(night.started_wall_s)
        .bind(night.status)
        .bind(dump_json(night.record))
        .run();
    return {};
  });
}

}  // namespace steptune
