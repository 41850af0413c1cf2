// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_receiver.hpp"

#include <algorithm>
#include <cstring>

#include "recording/format.hpp"

namespace ttmem::recording {

namespace {

static_assert(sizeof(FileHeader) == sizeof(BlockHeader));

template <class Header>
Header header_at(std::string_view bytes) {
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    return header;
}

bool is_file_header(std::string_view bytes) { return header_at<FileHeader>(bytes).magic == kFileMagic; }

}  // namespace

base::Expected<size_t> RecordingReceiver::next_length(std::string_view bytes) const {
    if (bytes.size() < sizeof(BlockHeader)) {
        return 0;
    }
    if (is_file_header(bytes)) {
        return sizeof(FileHeader);
    }
    const auto block = header_at<BlockHeader>(bytes);
    if (totals_.bytes == 0 || block.magic != kBlockMagic || block.stored_bytes > kMostStoredBytes) {
        return base::error(base::Error::Code::refused, "what the daemon sends is not a recording");
    }
    const size_t length = sizeof block + block.stored_bytes;
    return bytes.size() >= length ? length : 0;
}

base::Expected<void> RecordingReceiver::write(std::string_view whole) {
    totals_.bytes += whole.size();
    if (is_file_header(whole)) {
        return target_.begin_part(whole);
    }
    const auto block = header_at<BlockHeader>(whole);
    const auto type = static_cast<BlockType>(block.type);
    is_finished_ = type == BlockType::finish;
    if (type == BlockType::events) {
        totals_.events += block.events;
        totals_.lost += block.lost;
    }
    if (type == BlockType::process && block.process > last_process_) {
        last_process_ = block.process;
        ++totals_.processes;
    }
    return target_.append(whole);
}

base::Expected<void> RecordingReceiver::take(std::string_view bytes) {
    waiting_.append(bytes);
    size_t done = 0;
    while (true) {
        const std::string_view left = std::string_view(waiting_).substr(done);
        const auto length = next_length(left);
        if (!length) {
            return tl::unexpected(length.error());
        }
        if (*length == 0) {
            break;
        }
        if (auto written = write(left.substr(0, *length)); !written) {
            return written;
        }
        done += *length;
    }
    waiting_.erase(0, done);
    return {};
}

}  // namespace ttmem::recording
