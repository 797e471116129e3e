// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/text_table.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(TextTable, AlignsColumnsAndLeavesNoTrailingBlanks) {
  TextTable table({{"name", Align::left}, {"time", Align::right}, {"note", Align::left}});
  table.add_row({"a", "1.5 s", "x"});
  table.add_row({"longer", "12 s"});
  EXPECT_EQ(table.text(),
            "name     time  note\n"
            "a       1.5 s  x\n"
            "longer   12 s\n");
  EXPECT_EQ(table.width(), 19U);
}

TEST(TextTable, LeavesOutALineOfEmptyTitles) {
  TextTable table({{"", Align::left}, {"", Align::left}});
  table.add_row({"key", "value"});
  EXPECT_EQ(table.text(), "key  value\n");
}

TEST(TextTable, CountsColumnsOfTheTerminalAndIgnoresColours) {
  TextTable table({{"k", Align::right}, {"v", Align::left}});
  table.add_row({"\x1b[1mgr\xc3\xbcn\x1b[0m", "1"});
  table.add_row({"rot", "2"});
  EXPECT_EQ(table.text(), "   k  v\n\x1b[1mgr\xc3\xbcn\x1b[0m  1\n rot  2\n");
  TextTable wide({{"k", Align::left}, {"v", Align::left}});
  wide.add_row({"\u6f22\u5b57", "1"});
  wide.add_row({"e\u0301", "2"});
  EXPECT_EQ(wide.text(), "k     v\n\u6f22\u5b57  1\ne\u0301     2\n");
}

TEST(TextTable, HasTheWidthOfRemainingColumns) {
  TextTable table({{"", Align::left}, {"configuration", Align::left}, {"time", Align::right}});
  table.add_row({"*", "batch_size=64 workers=4", "12 s"});
  EXPECT_EQ(table.width(), 1U + 2U + 23U + 2U + 4U);
  table.drop_column(1);
  EXPECT_EQ(table.width(), 1U + 2U + 4U);
  EXPECT_EQ(table.text(), "   time\n*  12 s\n");
}

TEST(TextTable, RefusesMoreCellsThanColumns) {
  TextTable table({{"one", Align::left}});
  EXPECT_THROW(table.add_row({"1", "2"}), std::logic_error);
}

}  // namespace
}  // namespace steptune
