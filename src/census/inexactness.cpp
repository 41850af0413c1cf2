// SPDX-License-Identifier: Apache-2.0
#include "census/inexactness.hpp"

namespace ttmem::census {

namespace {

constexpr std::string_view kDetail = "{}";  // the place of the detail in a sentence

constexpr std::string_view sentence_of(Reason reason) {
    switch (reason) {
        case Reason::settling:
            return "settling: events were recorded meanwhile";
        case Reason::reserved_unknown:
            return "reserved size unknown: used counts the requested bytes";
        case Reason::negative_pool:
            return "pools below zero: shown as 0";
        case Reason::event_in_flight:
            return "an event was in flight at its death: it may be missing here";
        case Reason::counters_differ:
            return "defect: counters differ from the ledger";
        case Reason::started_before_ledger:
            return "classic client older than the daemon: what it held before is not known";
        case Reason::changed_user:
            return "it changed its user after its first allocation: the reporting user is not certain";
        case Reason::work_limit:
            return "too much to read in one answer: counts, free blocks or cores of it are not known";
        case Reason::list_limit:
            return "too much to list with the others: its allocations are missing here (--pid lists them)";
        case Reason::totals_only:
            return "totals only ({}): what else it holds, and how many allocations, is not known";
        case Reason::untracked:
            return "untracked: it has devices open and reports nothing";
        case Reason::not_listed:
            return "another user's process: not listed";
        case Reason::unreadable:
            return "it can't be read by this user: what it holds is not known";
        case Reason::processes_unreadable:
            return "{} can't be read by this user: what is held is not known";
        case Reason::segment_skipped:
            return "segment {}, skipped";
        case Reason::too_many_segments:
            return "too many segments: the rest is skipped";
        case Reason::too_many_processes:
            return "{} of the command not counted: too many";
        case Reason::too_many_devices:
            return "too many devices that no other user and no driver knows: the rest are not shown";
        case Reason::scan_running:
            return "the first scan for tracked processes is still running";
        case Reason::scan_incomplete:
            return "processes of user {} were not scanned yet: there is too much to read";
        case Reason::no_asic_id:
            return "device {} has no ASIC id in the driver: its memory may be listed under another "
                   "number";
        case Reason::device_disputed:
            return "device {}";
        case Reason::ambiguous_number:
            return "it names a device by number only, and others use that number for another device: its "
                   "memory may be that one's";
        case Reason::numbers_may_differ:
            return "device numbers may differ from those of others: {}";
        case Reason::events_hidden:
            return "events of other users' processes: not listed";
        case Reason::events_lost:
            return "events were overwritten before they were read";
        case Reason::events_not_kept:
            return "earlier events are no longer kept";
        case Reason::records_contradict:
            return "records contradict each other: left out";
        case Reason::sets_not_kept:
            return "events of a closed set: devices not known, left out";
        case Reason::post_mortems_hidden:
            return "post-mortems of other users' processes: not listed";
        case Reason::post_mortems_not_kept:
            return "older post-mortems are no longer kept";
        case Reason::series_not_kept:
            return "series are not kept: too many devices";
        case Reason::processes_missed:
            return "processes ended before they could be read";
        case Reason::history_not_kept:
            return "history on disk: {}";
        case Reason::stock_region:
        case Reason::claimed:
        case Reason::other:
            return kDetail;
        default:
            return segment::reason(static_cast<segment::Inexact>(reason));
    }
}

}  // namespace

bool Inexactness::is_skipped() const {
    return pid != 0 && (reason == Reason::segment_skipped || reason == Reason::too_many_segments);
}

std::string text_of(const Inexactness& inexactness) {
    const std::string_view sentence = sentence_of(inexactness.reason);
    const size_t at = sentence.find(kDetail);
    if (at == std::string_view::npos) {
        return std::string(sentence);
    }
    return std::string(sentence.substr(0, at))
        .append(inexactness.detail)
        .append(sentence.substr(at + kDetail.size()));
}

}  // namespace ttmem::census
