// SPDX-License-Identifier: Apache-2.0
#pragma once

// The list that the visible screen shows: its rows in the user's order, after the search, and which one is selected. Keys and
// the mouse move the selection here, and the screens draw the same rows.

#include <optional>
#include <string>
#include <vector>

#include "tui/scope_tree.hpp"
#include "tui/ui.hpp"
#include "view/text/tables.hpp"

namespace ttmem::tui {

// The processes of the overview: those on the chosen device, or all.
std::vector<const census::ProcessFigures*> listed_processes(const Model& model, const Ui& ui);

// What a process holds on the devices that the overview is about.
census::Holding holding_of(const Model& model, const Ui& ui, const census::ProcessFigures& process,
                           census::Kind kind);

std::vector<const census::DeviceFigures*> listed_devices(const Model& model, const Ui& ui);
// The tree of scopes; empty where the screen shows none.
std::vector<ScopeRow> listed_scopes(const Model& model, const Ui& ui);
std::vector<const view::NameGrowth*> listed_growth(const Model& model, const Ui& ui);
std::vector<const view::NameLeak*> listed_leaks(const Model& model, const Ui& ui);
std::vector<const view::EventView*> listed_events(const Model& model, const Ui& ui);
// Of processes that have ended.
std::vector<const view::KeptCard*> listed_kept(const Model& model, const Ui& ui);
// All: those of processes that are there, then the kept ones.
std::vector<const census::FailureFigures*> listed_failures(const Model& model, const Ui& ui);
// Equal ones are one row.
std::vector<view::EqualPostMortems> listed_post_mortems(const Model& model, const Ui& ui);

// One key per loaded row of the visible list, which identifies its entry. Empty where the screen shows no list.
std::vector<std::string> row_keys(const Model& model, const Ui& ui);

// The number of rows, including those that are not loaded yet.
size_t row_count(const Model& model, const Ui& ui);

// Absent: no row is selected.
std::optional<size_t> selected_row(const Model& model, const Ui& ui);

void select_row(const Model& model, Ui& ui, size_t row);

}  // namespace ttmem::tui
