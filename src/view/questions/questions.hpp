// SPDX-License-Identifier: Apache-2.0
#pragma once

// All questions. A new one gets a file of its own and a line here.

#include "view/questions/advice.hpp"
#include "view/questions/allocations.hpp"
#include "view/questions/cores.hpp"
#include "view/questions/events.hpp"
#include "view/questions/failures.hpp"
#include "view/questions/fit.hpp"
#include "view/questions/groups.hpp"
#include "view/questions/growth.hpp"
#include "view/questions/history.hpp"
#include "view/questions/inventory.hpp"
#include "view/questions/leaks.hpp"
#include "view/questions/map.hpp"
#include "view/questions/marks.hpp"
#include "view/questions/peak.hpp"
#include "view/questions/post_mortem.hpp"
#include "view/questions/post_mortems.hpp"
#include "view/questions/process_history.hpp"
#include "view/questions/processes.hpp"
#include "view/questions/programs.hpp"
#include "view/questions/self.hpp"
#include "view/questions/status.hpp"

namespace ttmem::view {

using Questions = QuestionList<Status, Processes, Allocations, Groups, Growth, Inventory, Leaks, Advice,
                               PeakContents, MarkList, Programs, Map, FitCheck, Cores, Failures,
                               PostMortemList, SinglePostMortem, History, ProcessHistory, Events, Self>;

}  // namespace ttmem::view
