// SPDX-License-Identifier: Apache-2.0
#include "observer/kernels.hpp"

#include <dirent.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <string_view>

#include "observer/memory.hpp"

namespace ttmem::observer {

namespace {

constexpr size_t kMostSourceBytes = 4096;

// The path of the source gives the kernel's type.
size_t type_of_kernel(std::string_view source) {
    if (source.find("tt_metal/fabric/") != std::string_view::npos) {
        return 1;
    }
    return source.find("tt_metal/impl/dispatch/") != std::string_view::npos ? 2 : 0;
}

// Whether this process has an accelerator open.
bool has_open_device() {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
    while (const dirent* entry = folder != nullptr ? readdir(folder.get()) : nullptr) {
        char path[32] = {};
        if (readlinkat(dirfd(folder.get()), entry->d_name, path, sizeof path - 1) > 0 &&
            std::string_view(path).starts_with("/dev/tenstorrent/")) {
            return true;
        }
    }
    return false;
}

// Releases that lack this function crash in the query if the device is mocked, because no kernel has a binary there.
bool may_ask(const Metal& metal) {
    return metal.kernels_of != nullptr &&
           (metal.originals.deallocate_circular_buffers != nullptr || has_open_device());
}

// The result is a vector of records, each with a vector of binaries, and ours to free.
class KernelList {
public:
    KernelList(const Places& places, const ReturnedVector& vector)
        : places_(places), vector_(vector), is_understood_(is_laid_out_as_expected()) {}
    ~KernelList() {
        if (is_understood_) {
            for (const char* kernel = vector_.begin; kernel != vector_.end; kernel += places_.kernel_size) {
                operator delete(binaries_of(kernel).begin);
            }
        }
        operator delete(vector_.begin);
    }
    KernelList(const KernelList&) = delete;
    KernelList& operator=(const KernelList&) = delete;

    std::optional<KernelBytes> bytes() const {
        if (!is_understood_) {
            return std::nullopt;
        }
        KernelBytes bytes{};
        for (const char* kernel = vector_.begin; kernel != vector_.end; kernel += places_.kernel_size) {
            const auto source = value_at<std::string_view>(kernel, places_.kernel_source);
            const ReturnedVector binaries = binaries_of(kernel);
            for (const char* binary = binaries.begin; binary != binaries.end; binary += places_.binary_size) {
                bytes[type_of_kernel(source)] += value_at<uint64_t>(binary, places_.binary_bytes);
            }
        }
        return bytes;
    }

private:
    ReturnedVector binaries_of(const char* kernel) const {
        return value_at<ReturnedVector>(kernel, places_.kernel_binaries);
    }
    static bool is_vector(const ReturnedVector& vector, size_t size) {
        return vector.begin <= vector.end && vector.end <= vector.capacity &&
               static_cast<size_t>(vector.end - vector.begin) % size == 0;
    }
    bool is_laid_out_as_expected() const {
        if (!is_vector(vector_, places_.kernel_size)) {
            return false;
        }
        for (const char* kernel = vector_.begin; kernel != vector_.end; kernel += places_.kernel_size) {
            const auto source = value_at<std::string_view>(kernel, places_.kernel_source);
            char first = 0;
            if (!is_vector(binaries_of(kernel), places_.binary_size) || source.size() > kMostSourceBytes ||
                (!source.empty() && read_memory(source.data(), &first, 1) != 1)) {
                return false;
            }
        }
        return true;
    }

    const Places& places_;
    const ReturnedVector vector_;
    const bool is_understood_;
};

}  // namespace

std::optional<KernelBytes> kernel_bytes_of(const Metal& metal, const void* program, metal::IDevice* chip) {
    if (!may_ask(metal)) {
        return std::nullopt;
    }
    try {
        return KernelList(metal.places, metal.kernels_of(program, chip)).bytes();
    } catch (...) {
        return std::nullopt;  // without its kernels the rest of the program is still right
    }
}

}  // namespace ttmem::observer
