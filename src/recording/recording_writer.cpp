// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_writer.hpp"

#include <algorithm>
#include <utility>

#include "base/time.hpp"
#include "segment/clock.hpp"

namespace ttmem::recording {

namespace {

ProcessFactsRecord facts_of(const census::Process& process) {
    ProcessFactsRecord facts;
    facts.identity = process.identity;
    facts.source = process.source;
    facts.is_older_than_ledger = process.is_older_than_ledger;
    facts.has_changed_user = process.has_changed_user;
    facts.slots = process.ledger->slot_capacity();
    return facts;
}

}  // namespace

base::Expected<RecordingWriter> RecordingWriter::create(std::unique_ptr<RecordingTarget> target) {
    auto file = BlockWriter::create(std::move(target), segment::monotonic_now(), base::realtime_ns());
    if (!file) {
        return tl::unexpected(std::move(file.error()));
    }
    return RecordingWriter(std::move(*file));
}

base::Expected<RecordingWriter> RecordingWriter::create(FileSettings settings) {
    auto target = FilePair::create(std::move(settings));
    if (!target) {
        return tl::unexpected(std::move(target.error()));
    }
    return create(std::move(*target));
}

base::Expected<void> RecordingWriter::write_host() {
    ByteWriter payload;
    write_facts(host_, payload);
    const uint64_t now_ns = segment::monotonic_now();
    return file_.append(
        {.type = BlockType::host, .first_ns = now_ns, .last_ns = now_ns, .payload = payload.bytes()});
}

base::Expected<void> RecordingWriter::set_host(const HostFactsRecord& facts) {
    if (host_ == facts) {
        return {};
    }
    host_ = facts;
    return write_host();
}

base::Expected<void> RecordingWriter::write_process(uint32_t number, const ProcessFactsRecord& facts,
                                                    uint64_t first_ns) {
    ByteWriter payload;
    write_facts(facts, payload);
    return file_.append({.type = BlockType::process,
                         .process = number,
                         .first_ns = first_ns,
                         .last_ns = first_ns,
                         .payload = payload.bytes()});
}

base::Expected<void> RecordingWriter::write_end(uint32_t number) {
    const uint64_t now_ns = segment::monotonic_now();
    return file_.append({.type = BlockType::end, .process = number, .first_ns = now_ns, .last_ns = now_ns});
}

base::Expected<uint32_t> RecordingWriter::add_totals(const census::Process& process) {
    const uint32_t number = ++last_number_;
    FollowedTotals followed{facts_of(process), segment::monotonic_now(), {number, process.ledger}};
    followed.facts.has_only_totals = true;
    auto written = write_process(number, followed.facts, followed.first_ns);
    if (written) {
        written = followed.recorder.write(file_);
    }
    if (!written) {
        return tl::unexpected(std::move(written.error()));
    }
    totals_.emplace(number, std::move(followed));
    return number;
}

base::Expected<uint32_t> RecordingWriter::add(const census::Process& process,
                                              ProcessRecorder::StartState from) {
    const uint32_t number = ++last_number_;
    ProcessFactsRecord facts = facts_of(process);
    facts.is_from_start = from == ProcessRecorder::StartState::beginning;
    Followed followed{std::move(facts), segment::monotonic_now(),
                      ProcessRecorder(number, process.ledger, from)};
    if (from == ProcessRecorder::StartState::beginning) {
        // Its first event may be older than this moment.
        followed.first_ns = std::min(followed.first_ns, process.ledger->created_ns());
    }
    auto written = write_process(number, followed.facts, followed.first_ns);
    if (written && from == ProcessRecorder::StartState::present) {
        written = followed.recorder.write_ledger(file_);
    }
    if (!written) {
        return tl::unexpected(std::move(written.error()));
    }
    processes_.emplace(number, std::move(followed));
    return number;
}

void RecordingWriter::add_to_past(const ProcessRecorder& recorder) {
    past_.events += recorder.events();
    past_.lost += recorder.lost();
    past_.without_details += recorder.without_details();
    ++past_.processes;
}

base::Expected<void> RecordingWriter::end(uint32_t number) {
    if (const auto found = totals_.find(number); found != totals_.end()) {
        totals_.erase(found);
        ++past_.processes;
        return write_end(number);
    }
    const auto found = processes_.find(number);
    if (found == processes_.end()) {
        return {};
    }
    ProcessRecorder& recorder = found->second.recorder;
    while (true) {
        auto events = recorder.follow(file_);
        if (!events) {
            return tl::unexpected(std::move(events.error()));
        }
        if (*events == 0) {
            break;
        }
    }
    auto written = recorder.write_ledger(file_);
    if (written) {
        written = recorder.write_summaries(file_);
    }
    if (written) {
        written = write_end(number);
    }
    add_to_past(recorder);
    processes_.erase(found);
    return written;
}

base::Expected<void> RecordingWriter::begin_part() {
    for (auto& [number, followed] : processes_) {
        auto written = followed.recorder.flush(file_);
        if (written) {
            written = followed.recorder.write_summaries(file_);
        }
        if (!written) {
            return written;
        }
    }
    auto done = file_.begin_part();
    if (done) {
        done = write_host();
    }
    for (auto& [number, followed] : processes_) {
        if (done) {
            done = write_process(number, followed.facts, followed.first_ns);
        }
        if (done) {
            done = followed.recorder.write_ledger(file_);
        }
    }
    for (auto& [number, followed] : totals_) {
        if (done) {
            done = write_process(number, followed.facts, followed.first_ns);
        }
        if (done) {
            done = followed.recorder.write(file_);
        }
    }
    return done;
}

base::Expected<void> RecordingWriter::follow_totals(uint64_t now_ns) {
    if (now_ns < next_totals_ns_) {
        return {};
    }
    next_totals_ns_ = now_ns + base::kNsPerSecond;
    for (auto& [number, followed] : totals_) {
        if (auto written = followed.recorder.write_changes(file_); !written) {
            return written;
        }
    }
    return {};
}

base::Expected<uint64_t> RecordingWriter::follow() {
    // A ledger of very few events costs more than to replay them.
    constexpr uint64_t kLeastPerLedger = 4'096;
    const uint64_t events_per_ledger =
        std::max(ProcessRecorder::kEventsPerLedger / std::max<size_t>(processes_.size(), 1), kLeastPerLedger);
    uint64_t sum = 0;
    const uint64_t now_ns = segment::monotonic_now();
    for (auto& [number, followed] : processes_) {
        auto events = followed.recorder.follow(file_, events_per_ledger);
        if (!events) {
            return events;
        }
        sum += *events;
        const auto since = followed.recorder.waiting_since_ns();
        if (since && now_ns - std::min(now_ns, *since) >= kLongestWaitNs) {
            if (auto flushed = followed.recorder.flush(file_); !flushed) {
                return tl::unexpected(std::move(flushed.error()));
            }
        }
    }
    if (auto written = follow_totals(now_ns); !written) {
        return tl::unexpected(std::move(written.error()));
    }
    if (file_.is_full()) {
        if (auto begun = begin_part(); !begun) {
            return tl::unexpected(std::move(begun.error()));
        }
    }
    return sum;
}

base::Expected<void> RecordingWriter::finish() {
    for (auto& [number, followed] : processes_) {
        auto events = followed.recorder.follow(file_);
        auto written = events ? followed.recorder.write_ledger(file_)
                              : base::Expected<void>(tl::unexpected(events.error()));
        if (written) {
            // What was recorded between the last scan of the rings and the ledger.
            events = followed.recorder.follow(file_);
            written = events ? followed.recorder.flush(file_)
                             : base::Expected<void>(tl::unexpected(events.error()));
        }
        if (written) {
            written = followed.recorder.write_summaries(file_);
        }
        if (!written) {
            return written;
        }
        add_to_past(followed.recorder);
    }
    processes_.clear();
    for (auto& [number, followed] : totals_) {
        if (auto written = followed.recorder.write_changes(file_); !written) {
            return written;
        }
        ++past_.processes;
    }
    totals_.clear();
    const uint64_t now_ns = segment::monotonic_now();
    return file_.append({.type = BlockType::finish, .first_ns = now_ns, .last_ns = now_ns});
}

RecorderTotals RecordingWriter::totals() const {
    RecorderTotals totals = past_;
    for (const auto& [number, followed] : processes_) {
        totals.events += followed.recorder.events();
        totals.lost += followed.recorder.lost();
        totals.without_details += followed.recorder.without_details();
        ++totals.processes;
    }
    totals.processes += totals_.size();
    totals.bytes = file_.bytes_written();
    return totals;
}

}  // namespace ttmem::recording
