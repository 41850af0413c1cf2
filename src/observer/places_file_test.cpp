// SPDX-License-Identifier: Apache-2.0
#include "observer/places_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace ttmem::observer {
namespace {

class PlacesFile : public ::testing::Test {
protected:
    PlacesFile() { close(mkstemp(path_.data())); }
    ~PlacesFile() override { unlink(path_.c_str()); }

    std::string problem_of(const std::string& text) {
        std::ofstream(path_) << text;
        const char* problem = read_places(path_.c_str(), places_);
        return problem != nullptr ? problem : "";
    }

    // Every place, each with another value.
    static std::string all() {
        std::string text = "# /opt/tt\n";
        size_t value = 100;
#define TTMEM_LINE(name, ...) text += std::string(#name) + " " + std::to_string(value++) + "\n";
        TTMEM_DEVICE_SLOTS(TTMEM_LINE)
        TTMEM_FIELDS(TTMEM_LINE)
#undef TTMEM_LINE
        return text;
    }

    std::string path_ = "/tmp/ttmem-places-XXXXXX";
    Places places_;
};

TEST_F(PlacesFile, GivesEveryPlace) {
    ASSERT_EQ(problem_of(all()), "");
    EXPECT_EQ(places_.device->arch, 100u);
    EXPECT_EQ(places_.device->lowest_l1_address, 105u);
    EXPECT_EQ(places_.buffer_device, 106u);
    EXPECT_EQ(places_.binary_bytes, 117u);
}

TEST_F(PlacesFile, IsRefusedIfAPlaceIsMissingUnknownTwiceOrTooLarge) {
    const std::string other_version =
        "it was made by another version of ttmem: run 'ttmem observer build' again";
    for (const std::string& text : {std::string(), all().substr(0, all().size() - 20), all() + "more 1\n",
                                    all() + "arch 1\n", all() + "no number\n"}) {
        EXPECT_EQ(problem_of(text), other_version) << text;
    }
    std::string large = all();
    large.replace(large.find("106"), 3, "4097");
    EXPECT_EQ(problem_of(large), other_version);
}

TEST_F(PlacesFile, IsRefusedIfOthersMayWriteToIt) {
    ASSERT_EQ(problem_of(all()), "");
    chmod(path_.c_str(), 0666);
    EXPECT_EQ(problem_of(all()), "it belongs to another user, or others may write to it");
    EXPECT_STREQ(read_places("/nonexistent", places_), "it can't be read");
}

}  // namespace
}  // namespace ttmem::observer
