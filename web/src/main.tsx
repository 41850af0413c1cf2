// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { App } from "./app";
import { startRouter } from "./model/router";
import type { SavedAnswers } from "./model/saved";
import { start } from "./model/source";
import { startPrinting, startTheme } from "./model/theme";

function savedAnswers(): SavedAnswers | null {
    const text = document.getElementById("ttmem-data")?.textContent;
    return text === null || text === undefined ? null : (JSON.parse(text) as SavedAnswers);
}

startTheme();
startPrinting();
void start(savedAnswers(), () => {
    startRouter();
    const place = document.getElementById("app");
    if (place !== null) render(<App />, place);
});
