// SPDX-License-Identifier: Apache-2.0
#include "base/name_pattern.hpp"

#include <cassert>
#include <utility>

namespace ttmem::base {

namespace {

using PatternCode = NamePattern::PatternCode;
using Instruction = NamePattern::Instruction;
using Op = Instruction::Op;
using CharacterSet = std::bitset<256>;

CharacterSet set_of(char c) { return CharacterSet().set(static_cast<unsigned char>(c)); }

CharacterSet range(char from, char to) {
    CharacterSet set;
    for (unsigned c = static_cast<unsigned char>(from); c <= static_cast<unsigned char>(to); ++c) {
        set.set(c);
    }
    return set;
}

Instruction character(const CharacterSet& set) { return {.op = Op::character, .set = set}; }
Instruction jump(size_t forward) { return {.op = Op::jump, .first = static_cast<int32_t>(forward)}; }
Instruction split(int32_t first, int32_t second) {
    return {.op = Op::split, .first = first, .second = second};
}

void append(PatternCode& code, const PatternCode& more) { code.insert(code.end(), more.begin(), more.end()); }

PatternCode repeated(const PatternCode& code, char how) {
    const auto length = static_cast<int32_t>(code.size());
    PatternCode result;
    if (how == '+') {
        append(result, code);
        result.push_back(split(-length, 1));
        return result;
    }
    result.push_back(split(1, how == '*' ? length + 2 : length + 1));
    append(result, code);
    if (how == '*') {
        result.push_back(Instruction{.op = Op::jump, .first = -(length + 1)});
    }
    return result;
}

// What \d, \w and \s mean; another character means itself.
CharacterSet escaped(char c) {
    const CharacterSet digits = range('0', '9');
    switch (c) {
        case 'd':
            return digits;
        case 'w':
            return digits | range('a', 'z') | range('A', 'Z') | set_of('_');
        case 's':
            return set_of(' ') | range('\t', '\r');
        default:
            return set_of(c);
    }
}

class PatternParser {
public:
    explicit PatternParser(std::string_view text) : text_(text) {}

    Expected<PatternCode> expression() {
        PatternCode code = alternatives();
        if (problem_.empty() && !at_end()) {
            problem_ = "a ) without a (";
        }
        return result(std::move(code));
    }

    Expected<PatternCode> glob() {
        PatternCode code = {Instruction{.op = Op::begin}};
        while (!at_end() && problem_.empty()) {
            const char c = take();
            if (c == '*') {
                append(code, repeated({character(CharacterSet().set())}, '*'));
            } else {
                code.push_back(character(c == '?'   ? CharacterSet().set()
                                         : c == '[' ? class_of('!')
                                                    : set_of(c)));
            }
        }
        code.push_back(Instruction{.op = Op::end});
        return result(std::move(code));
    }

private:
    bool at_end() const { return place_ == text_.size(); }
    bool is_next(char c) const { return !at_end() && text_[place_] == c; }
    char take() { return text_[place_++]; }

    Expected<PatternCode> result(PatternCode code) {
        if (!problem_.empty()) {
            return error(Error::Code::refused, problem_);
        }
        code.push_back(Instruction{.op = Op::match});
        return code;
    }

    // The recursion is bounded by the length of the text.
    PatternCode alternatives() {
        PatternCode code = sequence();
        while (is_next('|') && problem_.empty()) {
            take();
            const PatternCode other = sequence();
            PatternCode both = {split(1, static_cast<int32_t>(code.size()) + 2)};
            append(both, code);
            both.push_back(jump(other.size() + 1));
            append(both, other);
            code = std::move(both);
        }
        return code;
    }

    PatternCode sequence() {
        PatternCode code;
        while (!at_end() && !is_next('|') && !is_next(')') && problem_.empty()) {
            PatternCode one = atom();
            while (is_next('*') || is_next('+') || is_next('?')) {
                one = repeated(one, take());
            }
            append(code, one);
        }
        return code;
    }

    PatternCode atom() {
        const char c = take();
        switch (c) {
            case '(': {
                PatternCode code = alternatives();
                if (!is_next(')')) {
                    problem_ = problem_.empty() ? "a ( without a )" : problem_;
                    return code;
                }
                take();
                return code;
            }
            case '[':
                return {character(class_of('^'))};
            case '.':
                return {character(CharacterSet().set())};
            case '^':
                return {Instruction{.op = Op::begin}};
            case '$':
                return {Instruction{.op = Op::end}};
            case '*':
            case '+':
            case '?':
                problem_ = std::string("nothing to repeat before ") + c;
                return {};
            case '{':
                problem_ = "{ is not supported; \\{ is the character";
                return {};
            case '\\':
                if (at_end()) {
                    problem_ = "nothing after \\";
                    return {};
                }
                return {character(escaped(take()))};
            default:
                return {character(set_of(c))};
        }
    }

    // After the [.
    CharacterSet class_of(char negation) {
        const bool is_negated = is_next(negation);
        place_ += is_negated ? 1 : 0;
        CharacterSet set;
        for (bool is_first = true; !at_end() && (is_first || !is_next(']')); is_first = false) {
            const char c = take();
            if (c == '\\' && !at_end()) {
                set |= escaped(take());
            } else if (is_next('-') && place_ + 1 < text_.size() && text_[place_ + 1] != ']') {
                take();
                set |= range(c, take());
            } else {
                set |= set_of(c);
            }
        }
        if (at_end()) {
            problem_ = "a [ without a ]";
            return set;
        }
        take();
        return is_negated ? ~set : set;
    }

    std::string_view text_;
    size_t place_ = 0;
    std::string problem_;
};

// The places in the code that are reached after some characters of a name.
class ReachedPlaces {
public:
    explicit ReachedPlaces(const PatternCode& code) : code_(code), seen_(code.size(), 0) {}

    void clear() {
        places_.clear();
        ++round_;
    }

    // Adds a place and what follows it without a character. Returns true at the end of the code.
    bool add(size_t start, bool at_begin, bool at_end) {
        pending_ = {start};
        while (!pending_.empty()) {
            const size_t place = pending_.back();
            pending_.pop_back();
            assert(place < code_.size());
            if (seen_[place] == round_) {
                continue;
            }
            seen_[place] = round_;
            const Instruction& one = code_[place];
            const auto target = [&](int32_t by) { return place + static_cast<size_t>(int64_t{by}); };
            switch (one.op) {
                case Op::match:
                    return true;
                case Op::character:
                    places_.push_back(place);
                    break;
                case Op::jump:
                    pending_.push_back(target(one.first));
                    break;
                case Op::split:
                    pending_.push_back(target(one.first));
                    pending_.push_back(target(one.second));
                    break;
                case Op::begin:
                case Op::end:
                    if (one.op == Op::begin ? at_begin : at_end) {
                        pending_.push_back(place + 1);
                    }
                    break;
            }
        }
        return false;
    }

    const std::vector<size_t>& places() const { return places_; }

private:
    const PatternCode& code_;
    std::vector<size_t> places_;
    std::vector<size_t> pending_;
    std::vector<uint64_t> seen_;  // the round in which a place was last added
    uint64_t round_ = 1;
};

bool run_code(const PatternCode& code, std::string_view name) {
    ReachedPlaces one(code);
    ReachedPlaces other(code);
    ReachedPlaces* now = &one;
    ReachedPlaces* next = &other;
    if (now->add(0, true, name.empty())) {
        return true;
    }
    for (size_t i = 0; i < name.size(); ++i) {
        const bool at_end = i + 1 == name.size();
        next->clear();
        for (const size_t place : now->places()) {
            const bool is_in = code[place].set.test(static_cast<unsigned char>(name[i]));
            if (is_in && next->add(place + 1, false, at_end)) {
                return true;
            }
        }
        std::swap(now, next);
        if (now->add(0, false, at_end)) {  // a match may begin here
            return true;
        }
    }
    return false;
}

}  // namespace

Expected<NamePattern> NamePattern::parse(std::string_view text) {
    NamePattern pattern;
    if (text.size() > kMostBytes) {
        return error(Error::Code::refused,
                     "a pattern of names has at most " + std::to_string(kMostBytes) + " bytes");
    }
    const bool is_expression = text.size() > 2 && text.front() == '/' && text.back() == '/';
    if (!is_expression && text.find_first_of("*?") == std::string_view::npos) {
        pattern.part_ = text;
        return pattern;
    }
    auto code = is_expression ? PatternParser(text.substr(1, text.size() - 2)).expression()
                              : PatternParser(text).glob();
    if (!code) {
        return error(Error::Code::refused,
                     "the pattern '" + std::string(text) + "' has " + code.error().text);
    }
    pattern.code_ = std::move(*code);
    return pattern;
}

bool NamePattern::matches(std::string_view name) const {
    return code_.empty() ? name.find(part_) != std::string_view::npos : run_code(code_, name);
}

}  // namespace ttmem::base
