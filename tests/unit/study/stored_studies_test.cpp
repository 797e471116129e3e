// SPDX-License-Identifier: Apache-2.0
// Tests that stored studies stay the same. A changed fingerprint makes every stored study look
// different, and a document that reads differently restarts a finished one.
#include <algorithm>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/golden_file.hpp"
#include "tests/unit/study/study_fixture.hpp"
#include "tuner/study/study_format.hpp"

namespace steptune {
namespace {

std::vector<std::filesystem::path> stored_studies() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(STEPTUNE_SOURCE_DIR "/tests/unit/study/stored")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class StoredStudy : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(StoredStudy, KeepsItsFingerprintAndItsDocument) {
  auto stored = read_json_file(GetParam());
  ASSERT_TRUE(stored) << stored.error().text();
  const auto study = testing::read((*stored)["study"]);
  ASSERT_TRUE(study) << study.error().text();
  if (testing::updating_golden_files()) {
    (*stored)["fingerprint"] = study->fingerprint;
    (*stored)["document"] = study->document;
    testing::write_text(GetParam(), dump_json(*stored, 2) + "\n");
    GTEST_SKIP() << "written anew";
  }
  EXPECT_EQ((*stored)["fingerprint"], study->fingerprint);
  EXPECT_EQ(dump_json(study->document, 2), dump_json((*stored)["document"], 2));

  const auto again = testing::read(study->document);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->fingerprint, study->fingerprint);
  EXPECT_EQ(dump_json(again->document), dump_json(study->document));
}

TEST_P(StoredStudy, IsTheSameForCommandsThatOnlyRead) {
  const auto stored = read_json_file(GetParam());
  ASSERT_TRUE(stored) << stored.error().text();
  const Json& document = stored->at("document");
  const auto study = stored_study_from_json(document, "/studies/study.json", {}, "as stored");
  ASSERT_TRUE(study) << study.error().text();
  EXPECT_EQ(dump_json(study::canonical_document(*study), 2), dump_json(document, 2));
  EXPECT_EQ(study->document, document);
  EXPECT_EQ(study->fingerprint, "as stored");
  const StudySpec checked = testing::sound(document);
  EXPECT_EQ(study->baseline, checked.baseline);
  EXPECT_EQ(study->facts, checked.facts);
  EXPECT_EQ(study->mentioned, checked.mentioned);
  EXPECT_EQ(usd_per_hour(*study, study->baseline), usd_per_hour(checked, checked.baseline));
  EXPECT_EQ(render_command(*study, study->baseline).argv,
            render_command(checked, checked.baseline).argv);
}

TEST_P(StoredStudy, MayBeMovedToAnotherFolder) {
  const auto stored = read_json_file(GetParam());
  ASSERT_TRUE(stored) << stored.error().text();
  const auto moved =
      study_from_json((*stored)["study"], "/elsewhere/below/study.json", testing::k_facts);
  ASSERT_TRUE(moved) << moved.error().text();
  EXPECT_EQ((*stored)["fingerprint"], moved->fingerprint);
}

INSTANTIATE_TEST_SUITE_P(All, StoredStudy, ::testing::ValuesIn(stored_studies()),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace steptune
