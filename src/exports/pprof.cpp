// SPDX-License-Identifier: Apache-2.0
//
// A heap profile of github.com/google/pprof (profile.proto): stacks are scopes, and a sample is what one name holds of one kind on
// one device. Allocations that add no bytes are not in it.

#include <zlib.h>

#include <array>
#include <cstdint>
#include <map>
#include <new>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "exports/formats.hpp"

namespace ttmem::exports {

namespace {

using protozero::pbf_writer;

// Numbers of fields.
enum ProfileField : protozero::pbf_tag_type {
    kSampleType = 1,
    kSample = 2,
    kLocation = 4,
    kFunction = 5,
    kStringTable = 6,
    kTimeNanos = 9,
    kDurationNanos = 10,
    kPeriodType = 11,
    kPeriod = 12,
    kComment = 13,
    kDefaultSampleType = 14,
};

struct SampleValues {
    int64_t alloc_objects = 0;
    int64_t alloc_space = 0;
    int64_t inuse_objects = 0;
    int64_t inuse_space = 0;
};

class ProfileWriter {
public:
    ProfileWriter() : profile_(bytes_) { strings_.emplace("", 0); }

    std::string write(const ExportModel& model) {
        pair(kSampleType, "alloc_objects", "count");
        pair(kSampleType, "alloc_space", "bytes");
        pair(kSampleType, "inuse_objects", "count");
        pair(kSampleType, "inuse_space", "bytes");
        add_samples(model);
        profile_.add_int64(kTimeNanos, static_cast<int64_t>(model.epoch_ns(model.end_ns)));
        profile_.add_int64(kDurationNanos, static_cast<int64_t>(model.end_ns - model.begin_ns));
        pair(kPeriodType, "space", "bytes");
        profile_.add_int64(kPeriod, 1);
        for (const std::string& note : model.notes) {
            profile_.add_int64(kComment, string(note));
        }
        profile_.add_int64(kDefaultSampleType, string("inuse_space"));
        for (const std::string* text : in_order_) {
            profile_.add_string(kStringTable, *text);
        }
        return std::move(bytes_);
    }

private:
    int64_t string(const std::string& text) {
        const auto [place, is_new] = strings_.try_emplace(text, static_cast<int64_t>(strings_.size()));
        if (is_new) {
            in_order_.push_back(&place->first);  // nodes do not move
        }
        return place->second;
    }

    void pair(ProfileField field, const char* type, const char* unit) {
        pbf_writer value(profile_, field);
        value.add_int64(1, string(type));
        value.add_int64(2, string(unit));
    }

    // One location per function.
    uint64_t location(const std::string& name) {
        const auto [place, is_new] = locations_.try_emplace(name, locations_.size() + 1);
        const uint64_t id = place->second;
        if (is_new) {
            const int64_t text = string(name);
            pbf_writer function(profile_, kFunction);
            function.add_uint64(1, id);
            function.add_int64(2, text);
            function.add_int64(3, text);
            function.commit();
            pbf_writer location(profile_, kLocation);
            location.add_uint64(1, id);
            pbf_writer line(location, 4);
            line.add_uint64(1, id);
        }
        return id;
    }

    void label(pbf_writer& sample, const char* key, const std::string& text) {
        pbf_writer label(sample, 3);
        label.add_int64(1, string(key));
        label.add_int64(2, string(text));
    }

    void add_samples(const ExportModel& model) {
        using SampleKey =
            std::tuple<uint32_t, uint32_t, uint32_t, census::Kind>;  // process, name, device, kind
        std::map<SampleKey, SampleValues> samples;
        for (const AllocationSpan& span : model.spans) {
            for (const uint32_t device : model.sets[span.set].devices) {
                if (span.adds_bytes()) {
                    SampleValues& values = samples[{span.process, span.name, device, span.kind}];
                    const auto used = static_cast<int64_t>(span.used());
                    ++values.alloc_objects;
                    values.alloc_space += used;
                    values.inuse_objects += span.end_ns ? 0 : 1;
                    values.inuse_space += span.end_ns ? 0 : used;
                }
            }
        }
        for (const auto& [key, values] : samples) {
            const auto& [process, name, device, kind] = key;
            std::vector<uint64_t> stack = {location(model.processes[process].title())};
            for (const std::string& scope : scopes_of(model.names[name])) {
                stack.insert(stack.begin(), location(scope));  // the leaf comes first
            }
            const std::array<int64_t, 4> numbers = {values.alloc_objects, values.alloc_space,
                                                    values.inuse_objects, values.inuse_space};
            pbf_writer sample(profile_, kSample);
            sample.add_packed_uint64(1, stack.begin(), stack.end());
            sample.add_packed_int64(2, numbers.begin(), numbers.end());
            label(sample, "device",
                  "device " + std::to_string(model.devices[device].id));  // pprof takes a filter 0 for a size
            label(sample, "kind", std::string(name_of(kind)));
            label(sample, "pid", std::to_string(model.processes[process].pid));
        }
    }

    std::string bytes_;
    pbf_writer profile_;
    std::unordered_map<std::string, int64_t> strings_;
    std::vector<const std::string*> in_order_ = {&empty_};
    std::unordered_map<std::string, uint64_t> locations_;
    static inline const std::string empty_;
};

void append_gzip(const std::string& bytes, Output& to) {
    z_stream stream{};
    constexpr int kGzip = 15 + 16;
    constexpr int kMemoryLevel = 8;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        throw std::bad_alloc();  // its only cause
    }
    std::string compressed(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
    stream.avail_out = static_cast<uInt>(compressed.size());
    deflate(&stream, Z_FINISH);
    compressed.resize(stream.total_out);
    deflateEnd(&stream);
    to.append(compressed);
}

}  // namespace

Notes write_pprof(const ExportModel& model, Output& to) {
    append_gzip(ProfileWriter().write(model), to);
    return {};
}

}  // namespace ttmem::exports
