// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/configuration_column.hpp"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tuner/report/format.hpp"

namespace steptune {
namespace {

Configuration tried(std::int64_t batch_size, std::int64_t workers, const std::string& precision) {
  Configuration configuration;
  configuration.set("batch_size", batch_size);
  configuration.set("workers", workers);
  configuration.set("precision", precision);
  return configuration;
}

const std::vector<std::string> k_names = {"batch_size", "workers", "precision"};

/// Returns the row's text in a column without other rows.
std::string alone(const Configuration& row, const std::vector<std::string>& names,
                  std::size_t width) {
  return ConfigurationColumn({row}, names, width).text(row);
}

TEST(ConfigurationColumn, IsWholeWhereThereIsRoom) {
  const Configuration row = tried(128, 4, "bf16");
  EXPECT_EQ(alone(row, k_names, 39), "batch_size=128 workers=4 precision=bf16");
  EXPECT_EQ(alone(row, {"workers", "batch_size"}, 39), "workers=4 batch_size=128");
}

TEST(ConfigurationColumn, CutsNamesButNotValues) {
  const Configuration row = tried(128, 4, "bf16");
  EXPECT_EQ(alone(row, k_names, 38), "batch_...=128 workers=4 precision=bf16");
  EXPECT_EQ(alone(row, k_names, 36), "batch...=128 workers=4 preci...=bf16");
  EXPECT_EQ(alone(row, k_names, 27), "batc.=128 work.=4 pre.=bf16");
  EXPECT_EQ(alone(row, k_names, 25), "bat.=128 wor.=4 pre.=bf16");
  EXPECT_EQ(alone(row, k_names, 19), "b.=128 w.=4 p.=bf16");
}

TEST(ConfigurationColumn, CutsNamesAlikeInAllRows) {
  const std::vector<Configuration> rows = {tried(16, 0, "fp32"), tried(128, 4, "bf16")};
  const ConfigurationColumn column(rows, k_names, 27);
  EXPECT_EQ(column.text(rows[0]), "batc.=16 work.=0 pre.=fp32");
  EXPECT_EQ(column.text(rows[1]), "batc.=128 work.=4 pre.=bf16");
}

TEST(ConfigurationColumn, LeavesOutInactiveParameters) {
  std::vector<Configuration> rows = {tried(16, 0, "fp32"), tried(128, 4, "bf16")};
  rows[0].erase("batch_size");
  const ConfigurationColumn column(rows, k_names, 27);
  EXPECT_EQ(column.text(rows[0]), "work.=0 pre.=fp32");
  EXPECT_EQ(column.text(rows[1]), "batc.=128 work.=4 pre.=bf16");
}

TEST(ConfigurationColumn, KeepsNamesApart) {
  Configuration row;
  row.set("learning_rate_a", std::int64_t{1});
  row.set("learning_rate_b", std::int64_t{2});
  const std::vector<std::string> rates = {"learning_rate_a", "learning_rate_b"};
  EXPECT_EQ(alone(row, rates, 30), "learn...ate_a=1 learn...te_b=2") << "they differ at their ends";
  Configuration batches;
  batches.set("batch", std::int64_t{1});
  batches.set("batch_size", std::int64_t{2});
  EXPECT_EQ(alone(batches, {"batch", "batch_size"}, 15), "batch=1 ba.ze=2")
      << "\"bat.\" and \"batch.\" could be either";
}

TEST(ConfigurationColumn, CutsValuesOnlyIfShortNamesDoNotFit) {
  Configuration row;
  row.set("path", std::string(60, 'd'));
  row.set("batch_size", std::int64_t{256});
  const std::vector<std::string> names = {"path", "batch_size"};
  EXPECT_EQ(alone(row, names, 80), fmt::format("path={} batch_size=256", std::string(60, 'd')));
  EXPECT_EQ(alone(row, names, 24), "path=dddd...ddd bat.=256");
  EXPECT_EQ(alone(row, names, 15), "p.=d...d b.=256");
}

TEST(ConfigurationColumn, IsNeverTooWide) {
  Configuration row = tried(128, 4, "bf16");
  row.set("path",
          std::string("/data/\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc/\x1b[2Jtrain"));
  std::vector<std::string> names = k_names;
  names.emplace_back("path");
  for (std::size_t width = 0; width < 80; ++width)
    EXPECT_LE(display_width(alone(row, names, width)), width);
}

TEST(ConfigurationColumn, DistinguishesTrialsIn24Columns) {
  std::vector<Configuration> rows;
  for (const std::int64_t batch_size : {16, 32, 64, 128, 256}) {
    for (std::int64_t workers = 0; workers <= 4; ++workers) {
      rows.push_back(tried(batch_size, workers, "fp32"));
      rows.push_back(tried(batch_size, workers, "bf16"));
    }
  }
  const ConfigurationColumn column(rows, k_names, 24);
  std::set<std::string> texts;
  for (const Configuration& row : rows)
    texts.insert(column.text(row));
  EXPECT_EQ(texts.size(), rows.size());
}

}  // namespace
}  // namespace steptune
