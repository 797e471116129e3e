// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/cache_use.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tuner/verdict/recommendation.hpp"
#include "tuner/verdict/recommendation_record.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

constexpr double k_mib = 0x1p20;

/// Returns a run of 20 s. `placed`: how it was started; empty if the study names no data.
TrialRecord run_that_read(std::optional<double> bytes, const std::string& placed = "") {
  TrialRecord run;
  run.spent_s = 20.0;
  run.storage_read_bytes = bytes;
  if (!placed.empty()) run.placement["page_cache"] = placed;
  return run;
}

CacheUse seen_of(const std::vector<TrialRecord>& trials) {
  std::vector<const TrialRecord*> runs;
  for (const TrialRecord& trial : trials)
    runs.push_back(&trial);
  return cache_use(runs);
}

TEST(CacheUse, IsWarmIfLittleCameFromStorage) {
  const CacheUse seen = seen_of({run_that_read(0.1 * k_mib)});
  EXPECT_EQ(seen.state, CacheState::warm);
  EXPECT_EQ(seen.storage_read_bytes, 0.1 * k_mib);
  EXPECT_EQ(seen.text,
            "warm: a run read 0.1 MiB from storage; if the long run's data does not fit "
            "into memory, measure with \"measure.cache\": \"cold\"");
  EXPECT_EQ(seen_of({run_that_read(0.0, "warm")}).state, CacheState::warm);
}

TEST(CacheUse, IsMixedIfOtherReadsAreUnknown) {
  for (const char* placed : {"", "warm"}) {
    const CacheUse seen = seen_of({run_that_read(310.0 * k_mib, placed)});
    EXPECT_EQ(seen.state, CacheState::mixed);
    EXPECT_EQ(seen.text,
              "mixed: a run read 310.0 MiB from storage in 20.0 s, and found other data in memory");
  }
}

TEST(CacheUse, IsReadFromTheMiddleRun) {
  const CacheUse seen = seen_of({run_that_read(900.0 * k_mib), run_that_read(std::nullopt),
                                 run_that_read(0.0), run_that_read(0.5 * k_mib)});
  EXPECT_EQ(seen.state, CacheState::warm) << "the first run read the program's files";
  EXPECT_EQ(seen.storage_read_bytes, 0.5 * k_mib);
}

TEST(CacheUse, IsUnknownWithoutCountedReads) {
  for (const CacheUse& seen : {seen_of({}), seen_of({run_that_read(std::nullopt)})}) {
    EXPECT_EQ(seen.state, CacheState::not_known);
    EXPECT_FALSE(seen.storage_read_bytes);
    EXPECT_EQ(seen.text, "") << "nothing is said about remote machines";
  }
  EXPECT_EQ(seen_of({run_that_read(std::nullopt, "warm")}).text,
            "not known: reads from storage were not counted");
}

TEST(CacheUse, IsColdIfTheDataWasDroppedAndReadAgain) {
  TrialRecord run = run_that_read(2.0 * k_mib, "cold");
  EXPECT_EQ(seen_of({run}).state, CacheState::cold);
  run.placement["data_bytes"] = "8000000";
  const CacheUse seen = seen_of({run});
  EXPECT_EQ(seen.state, CacheState::cold);
  EXPECT_EQ(seen.text,
            "cold: a run read 2.0 MiB from storage in 20.0 s, as the first epoch of a long run "
            "does");
  run.placement["data_bytes"] = "2000000";
  EXPECT_EQ(seen_of({run}).state, CacheState::mixed) << "the second epoch had begun";
  EXPECT_THAT(seen_of({run}).text, HasSubstr("read all 1.9 MiB of the data from storage, and"));
}

TEST(CacheUse, IsUnknownIfDroppingTheDataHadNoEffect) {
  TrialRecord run = run_that_read(0.0, "cold");
  run.placement["page_cache_dropped"] = "4 files of 2.0 MiB";
  const CacheUse uncounted = seen_of({run});
  EXPECT_EQ(uncounted.state, CacheState::not_known);
  EXPECT_THAT(uncounted.text, HasSubstr("no reads from storage were counted"));
  EXPECT_THAT(uncounted.text, HasSubstr("(4 files of 2.0 MiB)"));
  run.placement["page_cache_not_dropped"] = "/data/a: Permission denied";
  const CacheUse kept = seen_of({run});
  EXPECT_EQ(kept.state, CacheState::not_known);
  EXPECT_EQ(kept.text,
            "not known: trials may have found data in memory, which was not dropped from there "
            "(/data/a: Permission denied)");
}

TEST(CacheUse, ComesBackWithItsRecommendation) {
  Recommendation recommendation;
  recommendation.page_cache = seen_of({run_that_read(310.0 * k_mib)});
  Json json = to_json(recommendation);
  auto read = recommendation_from_json(json, "a study");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->page_cache.state, CacheState::mixed);
  EXPECT_EQ(read->page_cache.storage_read_bytes, 310.0 * k_mib);
  EXPECT_EQ(read->page_cache.text, recommendation.page_cache.text);
  json.erase("page_cache");
  read = recommendation_from_json(json, "a study");
  ASSERT_TRUE(read) << "no figures of the page cache exist";
  EXPECT_EQ(read->page_cache.state, CacheState::not_known);
}

}  // namespace
}  // namespace steptune
