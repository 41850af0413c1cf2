// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tables of history.db. docs/DEPLOY.md describes them for people who read them with another program.
//
// Times within a run count from its beginning, on the clock that counts while the host sleeps. A run has its beginning on the wall
// clock, which is corrected when the clock is set. So rows of a run keep their order and their distance whatever the clock does.

namespace ttmem::daemon {

constexpr int kHistoryVersion = 1;
constexpr int kHistoryApplication = 0x74746d68;  // "ttmh"

constexpr char kHistorySchema[] = R"(
-- One time during which a daemon ran.
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    began_ns INTEGER NOT NULL,            -- since the epoch
    length_ns INTEGER NOT NULL,           -- until the last time that something was written
    boot TEXT NOT NULL,                   -- the kernel's id of the boot
    thinned INTEGER NOT NULL DEFAULT 0,   -- up to this second only one sample per minute is left
    version TEXT NOT NULL);
-- A process that is named by other tables, and how much of it was read.
CREATE TABLE processes (
    id INTEGER PRIMARY KEY,
    boot TEXT NOT NULL,
    pid INTEGER NOT NULL,
    start_time INTEGER NOT NULL,          -- clock ticks since boot
    start_time_ns INTEGER NOT NULL,       -- since the epoch
    uid INTEGER NOT NULL,
    user TEXT NOT NULL,
    comm TEXT NOT NULL,
    out_of_memory INTEGER NOT NULL DEFAULT 0,  -- failures and marks that are in the other tables, or were left out
    cb_clash INTEGER NOT NULL DEFAULT 0,
    unknown_free INTEGER NOT NULL DEFAULT 0,
    marks INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX processes_by_identity ON processes (pid, start_time, boot);
-- Used bytes of a kind: of a device, or of a process over all its devices.
CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    device INTEGER,
    asic INTEGER,
    process INTEGER,
    kind INTEGER NOT NULL,
    uid INTEGER NOT NULL);                -- who it counts against; -1: nobody
CREATE INDEX series_by_run ON series (run, device, process, kind);
CREATE INDEX series_of_devices ON series (device, asic, kind) WHERE device IS NOT NULL;
CREATE INDEX series_by_process ON series (process);
CREATE TABLE samples (
    series INTEGER NOT NULL,
    second INTEGER NOT NULL,              -- since the run began
    used INTEGER NOT NULL,                -- the highest from then to the next sample
    PRIMARY KEY (series, second)) WITHOUT ROWID;
-- Failures and marks.
CREATE TABLE moments (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,               -- since the run began
    process INTEGER NOT NULL,
    uid INTEGER NOT NULL,
    type INTEGER NOT NULL,
    kind INTEGER,
    requested INTEGER,
    card INTEGER,                         -- the number of its failure card, which is a file of its own
    name TEXT NOT NULL);
CREATE INDEX moments_by_time ON moments (run, at_ns);
-- Processes that died, with what they held.
CREATE TABLE deaths (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,
    process INTEGER NOT NULL,
    uid INTEGER NOT NULL,
    ending INTEGER NOT NULL,
    code INTEGER,                         -- the exit code or the signal
    devices TEXT NOT NULL,                -- "0,1"
    document TEXT NOT NULL);              -- as /v1/post-mortems?pid= answers
CREATE INDEX deaths_by_time ON deaths (run, at_ns);
CREATE INDEX deaths_by_process ON deaths (process);
-- About how many bytes are kept for a user; -1: for nobody.
CREATE TABLE shares (
    uid INTEGER PRIMARY KEY,
    bytes INTEGER NOT NULL);
)";

}  // namespace ttmem::daemon
