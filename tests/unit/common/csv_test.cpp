// SPDX-License-Identifier: Apache-2.0
#include "common/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Csv, CellsMayBeQuotedAndLinesEndEitherWay) {
  const auto csv = parse_csv("a,b,c\r\n\n1,\"x,\"\"y\"\"\",\n,,\"\"", "t.csv");
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_THAT(csv->header, ElementsAre("a", "b", "c"));
  EXPECT_THAT(csv->rows, ElementsAre(ElementsAre("1", "x,\"y\"", ""), ElementsAre("", "", "")));
}

TEST(Csv, ColumnsAreFoundByNameOrTheNearestIsTold) {
  const auto csv = parse_csv("workers,time\n1,2\n", "t.csv");
  ASSERT_TRUE(csv);
  EXPECT_EQ(csv->column("time"), 1U);
  const auto missing = csv->column("worker");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where, "t.csv");
  EXPECT_THAT(missing.error().message, HasSubstr("did you mean \"workers\"?"));
}

TEST(Csv, FaultsNameTheLine) {
  const auto narrow = parse_csv("a,b\n1,2\n\n3\n", "t.csv");
  ASSERT_FALSE(narrow);
  EXPECT_EQ(narrow.error().where, "t.csv:4");
  EXPECT_EQ(narrow.error().message, "1 cells where the header has 2");
  for (const char* text : {"", "\n\n", "a,b\n"}) {
    EXPECT_FALSE(parse_csv(text, "t.csv")) << text;
  }
}

TEST(Csv, AFileThatCannotBeReadIsNamed) {
  const auto missing = read_csv_file("/no/such/table.csv");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_EQ(missing.error().where, "/no/such/table.csv");
}

}  // namespace
}  // namespace steptune
