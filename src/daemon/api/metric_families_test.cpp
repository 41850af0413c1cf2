// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/metric_families.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ttmem::daemon {
namespace {

std::string series_text(Labels labels, double value) {
    Family family = gauge("a", "b");
    add(family, std::move(labels), value);
    const std::string text = to_text({family});
    const std::string before = "# HELP a b\n# TYPE a gauge\na";
    EXPECT_TRUE(text.starts_with(before)) << text;
    return text.substr(before.size());
}

TEST(MetricFamilies, AFamilyHasHelpTypeAndSeries) {
    Family first = counter("x_total", "Sum of x.");
    add(first, {{"device", "3"}, {"kind", "dram"}}, uint64_t{7});
    add(first, {}, 1);
    EXPECT_EQ(to_text({first, gauge("y", "Without series.")}),
              "# HELP x_total Sum of x.\n"
              "# TYPE x_total counter\n"
              "x_total{device=\"3\",kind=\"dram\"} 7\n"
              "x_total 1\n"
              "# HELP y Without series.\n"
              "# TYPE y gauge\n");
}

TEST(MetricFamilies, LabelsAndHelpAreEscaped) {
    EXPECT_EQ(series_text({{"comm", "a\"b\\c\nd"}}, 0), "{comm=\"a\\\"b\\\\c\\nd\"} 0\n");
    EXPECT_EQ(to_text({gauge("a", "say \"x\"\\\n")}), "# HELP a say \"x\"\\\\\\n\n# TYPE a gauge\n");
}

TEST(MetricFamilies, ValuesLoseNothing) {
    EXPECT_EQ(series_text({}, 12'872'318'208.0), " 12872318208\n");
    EXPECT_EQ(series_text({}, 9007199254740992.0), " 9007199254740992\n");
    EXPECT_EQ(series_text({}, -64), " -64\n");
    EXPECT_EQ(series_text({}, 48.312), " 48.312\n");
    EXPECT_EQ(series_text({}, 0.1), " 0.1\n");
    EXPECT_EQ(series_text({}, 1e30), " 1e+30\n");
}

TEST(MetricFamilies, ValuesThatAreNoNumbersHaveTheNamesOfPrometheus) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(series_text({}, kInfinity), " +Inf\n");
    EXPECT_EQ(series_text({}, -kInfinity), " -Inf\n");
    EXPECT_EQ(series_text({}, std::numeric_limits<double>::quiet_NaN()), " NaN\n");
}

}  // namespace
}  // namespace ttmem::daemon
