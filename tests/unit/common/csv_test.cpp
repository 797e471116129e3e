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

TEST(Csv, AMarkOfUtf8IsNoPartOfTheFirstColumn) {
  const auto csv = parse_csv(
      "\xEF\xBB\xBF"
      "a,b\n1,2\n",
      "t.csv");
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_THAT(csv->header, ElementsAre("a", "b"));
  EXPECT_FALSE(parse_csv("\xEF\xBB\xBF", "t.csv"));
}

TEST(Csv, QuotedCellsMayRunOverLines) {
  const auto csv = parse_csv("a,b\r\n\"one\r\ntwo\",\"\"\"x\n\"\r\n3,4\r\n", "t.csv");
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_THAT(csv->rows, ElementsAre(ElementsAre("one\r\ntwo", "\"x\n"), ElementsAre("3", "4")));
  const auto late = parse_csv("a,b\n\"1\n1\",2\n3\n", "t.csv");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().where, "t.csv:4") << "records of several lines count them";
  const auto open = parse_csv("a,b\n1,\"2\n3,4\n", "t.csv");
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().where, "t.csv:2");
  EXPECT_EQ(open.error().message, "has a quote that is never closed");
}

TEST(Csv, AQuoteWithinACellThatIsNotQuotedIsACharacter) {
  const auto csv = parse_csv("note,seconds\n5\" pipe,1\n6\" pipe,2\n", "table.csv");
  ASSERT_TRUE(csv) << csv.error().text();
  ASSERT_EQ(csv->rows.size(), 2U);
  EXPECT_EQ(csv->rows[0][0], "5\" pipe");
  EXPECT_EQ(csv->rows[1][1], "2");
}

TEST(Csv, CellsMayBeEmptyAndTheLastLineMayBeOpen) {
  const auto csv = parse_csv("a,b\n,1\n2,", "t.csv");
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_THAT(csv->rows, ElementsAre(ElementsAre("", "1"), ElementsAre("2", "")));
}

TEST(Csv, ACarriageReturnWithinALineIsKept) {
  const auto csv = parse_csv("a,b\r\n1\r,\"2\r\"\r\n3,4\r", "t.csv");
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_THAT(csv->rows, ElementsAre(ElementsAre("1\r", "2\r"), ElementsAre("3", "4")));
}

TEST(Csv, AQuoteOpensACellAnewInEveryColumn) {
  const auto csv = parse_csv("a,b\nx,\"1,2\"\n\"\",\"\"\"\"\n", "t.csv");
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_THAT(csv->rows, ElementsAre(ElementsAre("x", "1,2"), ElementsAre("", "\"")));
}

TEST(Csv, AQuoteAtTheVeryEndIsNeverClosed) {
  EXPECT_FALSE(parse_csv("a\n\"", "t.csv"));
}

TEST(Csv, AFileWithoutRowsIsRefusedAtItsHeader) {
  const auto header = parse_csv("\n\na,b\n\n", "t.csv");
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().where, "t.csv:3");
  EXPECT_EQ(header.error().message, "has no rows below this header");
  const auto empty = parse_csv("\n", "t.csv");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().where, "t.csv");
  EXPECT_EQ(empty.error().message, "is empty");
}

TEST(Csv, AMissingColumnSuggestsTheNearest) {
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
  EXPECT_EQ(narrow.error().message, "1 cells, but the header has 2");
}

TEST(Csv, AFileThatCannotBeReadIsNamed) {
  const auto missing = read_csv_file("/no/such/table.csv");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_EQ(missing.error().where, "/no/such/table.csv");
}

}  // namespace
}  // namespace steptune
