// SPDX-License-Identifier: Apache-2.0
#include "tui/keys.hpp"

#include "tui/key_bindings.hpp"

namespace ttmem::tui {

namespace {

constexpr size_t kMaxFilterBytes = 200;

// Removes the last character with all its bytes.
void erase_character(std::string& text) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) {
        text.pop_back();
    }
    if (!text.empty()) {
        text.pop_back();
    }
}

void press_in_filter(Key key, Ui& ui) {
    if (key == Key::enter) {
        ui.filter() = *ui.prompt;
        ui.cursor = {};
        ui.prompt.reset();
    } else if (key == Key::escape) {
        ui.prompt.reset();
    } else if (key == Key::backspace || key == Key::backspace_control) {
        erase_character(*ui.prompt);
    } else if (is_printable(key) && ui.prompt->size() < kMaxFilterBytes) {
        *ui.prompt += encode(static_cast<char32_t>(key));
    }
}

AppRequest press_in_signal_dialog(Key key, Ui& ui) {
    if (key == Key::up || key == Key::down) {
        const size_t step = key == Key::down ? 1 : kSignals.size() - 1;
        ui.signal->signal = (ui.signal->signal + step) % kSignals.size();
        return AppRequest::none;
    }
    if (key == key_of(U'y') || key == key_of(U'Y')) {
        return AppRequest::send_signal;
    }
    ui.signal.reset();
    return AppRequest::none;
}

bool scrolls_help(Key key) {
    return key == Key::up || key == Key::down || key == Key::page_up || key == Key::page_down ||
           key == Key::home || key == Key::end || key == Key::wheel_up || key == Key::wheel_down;
}

}  // namespace

AppRequest press(const Input& input, const Model& model, Ui& ui, Size size) {
    const Key key = input.key;
    if (key == Key::none) {
        return AppRequest::none;  // a key without a meaning, or a button that is released
    }
    ui.message.clear();
    if (ui.prompt) {
        press_in_filter(key, ui);
        return AppRequest::none;
    }
    if (ui.signal) {
        return press_in_signal_dialog(key, ui);
    }
    const KeyPress press{key, model, ui, size, input.row, input.column};
    if (ui.help && scrolls_help(key)) {
        return scroll_help(press);
    }
    if (const KeyBinding* binding = find_binding(key, ui.screen, source_of(model))) {
        return binding->action(press);
    }
    ui.message = other_screens_text(key, source_of(model));
    return AppRequest::none;
}

}  // namespace ttmem::tui
