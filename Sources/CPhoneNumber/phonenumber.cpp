#include "phonenumber.h"

#include <cstdio>
#include <cstring>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <phonenumbers/logger.h>
#include <phonenumbers/phonemetadata.pb.h>
#include <phonenumbers/phonenumber.pb.h>
#include <phonenumbers/phonenumberutil.h>

// The metadata compiled into the library, which its public headers do not declare.
namespace i18n {
namespace phonenumbers {
int metadata_size();
const void *metadata_get();
}  // namespace phonenumbers
}  // namespace i18n

namespace {

using i18n::phonenumbers::PhoneMetadata;
using i18n::phonenumbers::PhoneMetadataCollection;
using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

constexpr uint16_t kAllDigits = 0x3ff;
/// In bytes; what is longer is no number, and need not be looked at.
constexpr size_t kLongest = 250;

/// What a regular expression of the metadata can begin with, as far as it is easily told.
struct Start {
  /// Where it matches just these texts, none of which begins with another: all of them.
  std::vector<std::string> texts;
  /// A bit for each digit it may begin with; all where that is not known.
  uint16_t digits = 0;
  bool is_empty = false;

  bool may_begin(uint8_t digit) const { return digits >> digit & 1; }
};

/// Lists the texts that a pattern matches: digits, \d, classes, groups, alternatives and bounded quantifiers. What goes on for ever or
/// gives too many texts is cut behind its first digits.
class PatternParser {
 public:
  explicit PatternParser(const std::string &pattern) : at_(pattern.data()), end_(pattern.data() + pattern.size()) {}

  Start parse() {
    Start start;
    Texts texts = alternatives();
    if (failed_ || at_ != end_) {
      start.digits = kAllDigits;
      return start;
    }
    bool is_finite = !was_cut_;
    for (const std::string &text : texts) {
      if (text.empty()) start.digits = kAllDigits;
      if (!text.empty()) start.digits |= uint16_t(1 << (text[0] - '0'));
      for (const std::string &other : texts) {
        if (&other != &text && other.compare(0, text.size(), text) == 0) is_finite = false;
      }
    }
    if (is_finite && start.digits != kAllDigits) start.texts.assign(texts.begin(), texts.end());
    return start;
  }

 private:
  using Texts = std::set<std::string>;
  static constexpr size_t kMost = 256;
  const char *at_;
  const char *end_;
  bool failed_ = false;
  bool was_cut_ = false;

  /// Keeps the first digits of texts where there are too many.
  Texts limited(const Texts &texts) {
    if (texts.size() <= kMost) return texts;
    was_cut_ = true;
    Texts cut;
    for (const std::string &text : texts) cut.insert(text.substr(0, 1));
    return cut;
  }

  Texts joined(const Texts &heads, const Texts &tails) {
    Texts all;
    for (const std::string &head : heads) {
      // What has been cut, or is long, need not grow.
      if (head.size() > 16 || (was_cut_ && !head.empty())) {
        was_cut_ = true;
        all.insert(head);
        continue;
      }
      for (const std::string &tail : tails) all.insert(head + tail);
    }
    return limited(all);
  }

  Texts alternatives() {
    Texts all;
    do {
      Texts own = sequence();
      all.insert(own.begin(), own.end());
    } while (!failed_ && at_ != end_ && *at_ == '|' && ++at_);
    return limited(all);
  }

  Texts sequence() {
    Texts texts = {""};
    while (!failed_ && at_ != end_ && *at_ != '|' && *at_ != ')') {
      Texts own = quantified(atom());
      texts = joined(texts, own);
    }
    return texts;
  }

  Texts atom() {
    char c = *at_++;
    if (c >= '0' && c <= '9') return {std::string(1, c)};
    if (c == '\\' && at_ != end_ && *at_ == 'd') {
      ++at_;
      return range('0', '9');
    }
    if (c == '[') return character_class();
    if (c == '(') {
      if (at_ != end_ && *at_ == '?') {
        if (end_ - at_ < 2 || at_[1] != ':') return fail();
        at_ += 2;
      }
      Texts texts = alternatives();
      if (at_ == end_ || *at_ != ')') return fail();
      ++at_;
      return texts;
    }
    return fail();
  }

  static Texts range(char first, char last) {
    Texts texts;
    for (char digit = first; digit <= last; ++digit) texts.insert(std::string(1, digit));
    return texts;
  }

  Texts character_class() {
    Texts texts;
    while (at_ != end_ && *at_ != ']') {
      if (*at_ < '0' || *at_ > '9') return fail();
      char first = *at_++, last = first;
      if (end_ - at_ > 1 && *at_ == '-') {
        if (at_[1] < '0' || at_[1] > '9') return fail();
        last = at_[1];
        at_ += 2;
      }
      Texts own = range(first, last);
      texts.insert(own.begin(), own.end());
    }
    if (at_ == end_) return fail();
    ++at_;
    return texts;
  }

  /// The texts as often as the quantifier behind them says.
  Texts quantified(const Texts &texts) {
    int least = 1, most = 1;
    if (at_ != end_ && *at_ == '?') {
      ++at_;
      least = 0;
    } else if (at_ != end_ && (*at_ == '*' || *at_ == '+')) {
      least = *at_++ == '*' ? 0 : 1;
      was_cut_ = true;
    } else if (at_ != end_ && *at_ == '{') {
      ++at_;
      least = number();
      most = least;
      if (at_ != end_ && *at_ == ',') {
        ++at_;
        most = number();
      }
      if (at_ == end_ || *at_++ != '}' || least < 0 || most < least || most > 32) return fail();
    }
    Texts all;
    Texts power = {""};
    for (int count = 0; count <= most && !failed_; ++count) {
      if (count >= least) all.insert(power.begin(), power.end());
      power = joined(power, texts);
    }
    return limited(all);
  }

  int number() {
    int value = -1;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') value = (value < 0 ? 0 : value) * 10 + (*at_++ - '0');
    return value;
  }

  Texts fail() {
    failed_ = true;
    return {""};
  }
};

Start start_of(const std::string &pattern) {
  Start start;
  if (!pattern.empty()) start = PatternParser(pattern).parse();
  start.is_empty = pattern.empty();
  return start;
}

enum class Length { possible, local_only, too_short, too_long, invalid };

}  // namespace

/// What the fast path knows of a region, or of a calling code without one.
struct ohana_phone_region {
  std::string id;
  uint32_t country_code = 0;
  std::string country_digits;
  /// A bit for each length.
  uint64_t lengths = 0;
  uint64_t local_lengths = 0;
  int shortest = 0;
  int longest = 0;
  /// What national numbers begin with.
  uint16_t national_starts = kAllDigits;
  Start national_prefix;
  bool has_transform = false;
  Start international_prefix;

  Length test(size_t count) const {
    if (lengths == 0) return Length::invalid;
    if (local_lengths >> count & 1) return Length::local_only;
    if (int(count) < shortest) return Length::too_short;
    if (int(count) > longest) return Length::too_long;
    return lengths >> count & 1 ? Length::possible : Length::invalid;
  }
};

namespace {

/// The library and what was read out of its metadata. Made once, never changed.
struct Library {
  PhoneNumberUtil *util;
  std::vector<std::unique_ptr<ohana_phone_region>> regions;
  /// By calling code: the main region.
  const ohana_phone_region *by_code[1000] = {};
  /// By two letters.
  const ohana_phone_region *by_letters[26 * 26] = {};
  /// Calling codes that belong to one region alone.
  bool is_single[1000] = {};

  Library() : util(PhoneNumberUtil::GetInstance()) {
    util->SetLogger(new i18n::phonenumbers::NullLogger());
    PhoneMetadataCollection collection;
    if (!collection.ParseFromArray(i18n::phonenumbers::metadata_get(), i18n::phonenumbers::metadata_size())) return;
    for (const PhoneMetadata &metadata : collection.metadata()) add(metadata);
    for (int code = 1; code < 1000; ++code) {
      std::string id;
      util->GetRegionCodeForCountryCode(code, &id);
      if (id == "ZZ") continue;
      for (const auto &region : regions) {
        if (region->id == id && int(region->country_code) == code) by_code[code] = region.get();
      }
      std::list<std::string> all;
      util->GetRegionCodesForCountryCallingCode(code, &all);
      is_single[code] = all.size() == 1;
    }
  }

  static const Library &shared() {
    static const Library *library = new Library();
    return *library;
  }

 private:
  void add(const PhoneMetadata &metadata) {
    auto region = std::make_unique<ohana_phone_region>();
    region->id = metadata.id();
    region->country_code = uint32_t(metadata.country_code());
    region->country_digits = std::to_string(metadata.country_code());
    const auto &general = metadata.general_desc();
    for (int length : general.possible_length()) {
      if (length < 1 || length > 60) continue;
      region->lengths |= uint64_t(1) << length;
    }
    if (general.possible_length_size() > 0) {
      region->shortest = general.possible_length(0);
      region->longest = general.possible_length(general.possible_length_size() - 1);
    }
    for (int length : general.possible_length_local_only()) {
      if (length >= 0 && length < 61) region->local_lengths |= uint64_t(1) << length;
    }
    region->national_starts = start_of(general.national_number_pattern()).digits;
    region->national_prefix = start_of(metadata.national_prefix_for_parsing());
    region->has_transform = !metadata.national_prefix_transform_rule().empty();
    region->international_prefix = start_of(metadata.international_prefix());
    const std::string &id = region->id;
    if (id.size() == 2 && id[0] >= 'A' && id[0] <= 'Z' && id[1] >= 'A' && id[1] <= 'Z') {
      by_letters[(id[0] - 'A') * 26 + id[1] - 'A'] = region.get();
    }
    regions.push_back(std::move(region));
  }
};

/// Digits of a number on their way: a window of a buffer.
struct Digits {
  const uint8_t *start;
  size_t count;

  uint8_t first() const { return uint8_t(start[0] - '0'); }
  bool begins(const std::string &text) const { return count >= text.size() && memcmp(start, text.data(), text.size()) == 0; }
  /// Length of the text that they begin with; 0: none of them.
  size_t begins(const std::vector<std::string> &texts) const {
    for (const std::string &text : texts) {
      if (begins(text)) return text.size();
    }
    return 0;
  }
  Digits without(size_t prefix) const { return {start + prefix, count - prefix}; }
};

/// Takes the national prefix off. False where only the library can tell.
bool strip_national_prefix(const ohana_phone_region &region, Digits *digits) {
  const Start &prefix = region.national_prefix;
  if (digits->count == 0 || prefix.is_empty || !prefix.may_begin(digits->first())) return true;
  if (prefix.texts.empty() || region.has_transform) return false;
  size_t length = digits->begins(prefix.texts);
  if (length == 0) return true;
  // A number that is a national one with its prefix may keep it: only the library knows.
  if (region.national_starts >> digits->first() & 1) return false;
  *digits = digits->without(length);
  return true;
}

/// A number taken apart.
struct Parsed {
  const ohana_phone_region *main;
  uint32_t country_code;
  Digits national;
};

enum class Answer { number, none, unknown };

/// PhoneNumberUtil::Parse, for plain spellings: digits with blanks, hyphens, dots, slashes and parentheses, a plus in front of them.
Answer parse_fast(const ohana_phone_region *region, const uint8_t *text, size_t count, uint8_t *buffer, Parsed *parsed) {
  if (count > 40) return Answer::unknown;
  bool has_plus = false;
  size_t length = 0;
  for (size_t index = 0; index < count; ++index) {
    uint8_t byte = text[index];
    if (uint8_t(byte - '0') <= 9) {
      if (length == 20) return Answer::unknown;
      buffer[length++] = byte;
    } else if (byte == '+') {
      if (has_plus || length > 0) return Answer::unknown;
      has_plus = true;
    } else if (byte != ' ' && byte != '-' && byte != '.' && byte != '(' && byte != ')' && byte != '/') {
      return Answer::unknown;
    }
  }
  if (length < 5) return Answer::unknown;
  const Library &library = Library::shared();
  Digits digits = {buffer, length};
  bool is_international = has_plus;
  if (!has_plus) {
    if (region == nullptr) return Answer::none;
    const Start &prefix = region->international_prefix;
    if (prefix.may_begin(digits.first())) {
      if (prefix.texts.empty()) return Answer::unknown;
      if (size_t length = digits.begins(prefix.texts)) {
        Digits rest = digits.without(length);
        if (rest.count < 4) return Answer::unknown;
        if (rest.first() != 0) {
          digits = rest;
          is_international = true;
        }
      }
    }
  }
  const ohana_phone_region *metadata = nullptr;
  if (is_international) {
    uint32_t code = 0;
    for (size_t size = 1; size <= 3 && metadata == nullptr; ++size) {
      code = code * 10 + uint32_t(digits.start[size - 1] - '0');
      if (digits.first() != 0) metadata = library.by_code[code];
      if (metadata != nullptr) digits = digits.without(size);
    }
    if (metadata == nullptr) return Answer::unknown;
    parsed->country_code = code;
  } else {
    parsed->country_code = region->country_code;
    metadata = region;
    if (digits.begins(region->country_digits)) {
      // The code of the region without anything in front: the library takes it for that where nothing else makes sense.
      if (region->test(digits.count) != Length::too_long) return Answer::unknown;
      digits = digits.without(region->country_digits.size());
      if (!strip_national_prefix(*region, &digits)) return Answer::unknown;
      metadata = library.by_code[parsed->country_code];
      if (metadata == nullptr) return Answer::unknown;
    }
  }
  if (digits.count < 3) return Answer::unknown;
  Digits stripped = digits;
  if (!strip_national_prefix(*metadata, &stripped)) return Answer::unknown;
  switch (metadata->test(stripped.count)) {
    case Length::too_short:
    case Length::local_only:
    case Length::invalid: break;
    case Length::possible:
    case Length::too_long: digits = stripped;
  }
  if (digits.count < 2) return Answer::unknown;
  if (digits.count > 17) return Answer::none;
  parsed->main = library.by_code[parsed->country_code];
  if (parsed->main == nullptr) return Answer::unknown;
  parsed->national = digits;
  return Answer::number;
}

size_t write_e164(const Parsed &parsed, uint8_t *out) {
  const std::string &code = parsed.main->country_digits;
  out[0] = '+';
  memcpy(out + 1, code.data(), code.size());
  memcpy(out + 1 + code.size(), parsed.national.start, parsed.national.count);
  return 1 + code.size() + parsed.national.count;
}

size_t write(const std::string &text, uint8_t *out) {
  if (text.size() > OHANA_PHONE_CAPACITY) return 0;
  memcpy(out, text.data(), text.size());
  return text.size();
}

}  // namespace

/// A direct-mapped table of short texts.
struct ohana_phone_memo {
  static constexpr size_t kEntries = 4096;
  static constexpr size_t kText = 40;
  struct Entry {
    const ohana_phone_region *region;
    uint8_t form, count, length;
    uint8_t text[kText];
    uint8_t answer[OHANA_PHONE_CAPACITY];
  };
  std::vector<Entry> entries;
};

const ohana_phone_region *ohana_phone_region_of(uint8_t first, uint8_t second) {
  if (first < 'A' || first > 'Z' || second < 'A' || second > 'Z') return nullptr;
  return Library::shared().by_letters[(first - 'A') * 26 + second - 'A'];
}

const char *ohana_phone_metadata_version(void) {
  static const std::string version = [] {
    // The library tells no version of its own: FNV-1a of what it knows.
    const auto *bytes = static_cast<const uint8_t *>(i18n::phonenumbers::metadata_get());
    uint64_t hash = 0xcbf29ce484222325u;
    for (int index = 0; index < i18n::phonenumbers::metadata_size(); ++index) hash = (hash ^ bytes[index]) * 0x100000001b3u;
    char text[17];
    snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return std::string(text);
  }();
  return version.c_str();
}

ohana_phone_memo *ohana_phone_memo_create(void) { return new ohana_phone_memo(); }
void ohana_phone_memo_destroy(ohana_phone_memo *memo) { delete memo; }

size_t ohana_phone_format_by_library(
    const ohana_phone_region *region, const uint8_t *text, size_t count, ohana_phone_form form, bool possible, uint8_t *out) {
  const PhoneNumberUtil &util = *Library::shared().util;
  if (count > kLongest) return 0;
  PhoneNumber number;
  std::string whole(reinterpret_cast<const char *>(text), count);
  if (util.Parse(whole, region == nullptr ? "ZZ" : region->id, &number) != PhoneNumberUtil::NO_PARSING_ERROR) return 0;
  if (possible && util.IsPossibleNumberWithReason(number) != PhoneNumberUtil::IS_POSSIBLE) return 0;
  std::string answer;
  switch (form) {
    case OHANA_PHONE_E164:
      util.Format(number, PhoneNumberUtil::E164, &answer);
      if (number.has_extension() && !number.extension().empty()) answer += ";ext=" + number.extension();
      break;
    case OHANA_PHONE_INTERNATIONAL: util.Format(number, PhoneNumberUtil::INTERNATIONAL, &answer); break;
    case OHANA_PHONE_NATIONAL: util.Format(number, PhoneNumberUtil::NATIONAL, &answer); break;
    case OHANA_PHONE_RFC3966: util.Format(number, PhoneNumberUtil::RFC3966, &answer); break;
    case OHANA_PHONE_COUNTRY:
      util.GetRegionCodeForNumber(number, &answer);
      if (answer == "ZZ" || answer == "001") return 0;
      break;
  }
  return write(answer, out);
}

int ohana_phone_fast_e164(const ohana_phone_region *region, const uint8_t *text, size_t count, uint8_t *out) {
  uint8_t buffer[24];
  Parsed parsed;
  switch (parse_fast(region, text, count, buffer, &parsed)) {
    case Answer::unknown: return -1;
    case Answer::none: return 0;
    case Answer::number: break;
  }
  return parsed.main->test(parsed.national.count) == Length::possible ? int(write_e164(parsed, out)) : 0;
}

size_t ohana_phone_format(
    const ohana_phone_region *region, const uint8_t *text, size_t count, ohana_phone_form form, bool possible,
    ohana_phone_memo *memo, uint8_t *out) {
  if (form == OHANA_PHONE_E164 || form == OHANA_PHONE_COUNTRY) {
    uint8_t buffer[24];
    Parsed parsed;
    switch (parse_fast(region, text, count, buffer, &parsed)) {
      case Answer::unknown: break;
      case Answer::none: return 0;
      case Answer::number:
        if (possible && parsed.main->test(parsed.national.count) != Length::possible) return 0;
        if (form == OHANA_PHONE_E164) return write_e164(parsed, out);
        if (Library::shared().is_single[parsed.country_code]) {
          return parsed.main->id == "001" ? 0 : write(parsed.main->id, out);
        }
    }
  }
  if (memo == nullptr || count > ohana_phone_memo::kText) {
    return ohana_phone_format_by_library(region, text, count, form, possible, out);
  }
  if (memo->entries.empty()) memo->entries.resize(ohana_phone_memo::kEntries);
  uint64_t hash = 0xcbf29ce484222325u ^ uint64_t(form) << 1 ^ uint64_t(possible);
  for (size_t index = 0; index < count; ++index) hash = (hash ^ text[index]) * 0x100000001b3u;
  uint8_t kind = uint8_t(form << 2 | (possible ? 2 : 0) | 1);  // not zero, which an empty entry has
  ohana_phone_memo::Entry &entry = memo->entries[(hash ^ hash >> 29) % ohana_phone_memo::kEntries];
  if (entry.form != kind || entry.region != region || entry.count != count || memcmp(entry.text, text, count) != 0) {
    entry.form = kind;
    entry.region = region;
    entry.count = uint8_t(count);
    if (count > 0) memcpy(entry.text, text, count);
    entry.length = uint8_t(ohana_phone_format_by_library(region, text, count, form, possible, entry.answer));
  }
  memcpy(out, entry.answer, entry.length);
  return entry.length;
}

size_t ohana_phone_example(size_t index, int type, char *code, uint8_t *out) {
  const Library &library = Library::shared();
  if (index >= library.regions.size()) return 0;
  const ohana_phone_region &region = *library.regions[index];
  PhoneNumber number;
  std::string answer;
  code[0] = 0;
  if (region.id.size() == 2) {
    memcpy(code, region.id.c_str(), 3);
    if (!library.util->GetExampleNumberForType(region.id, PhoneNumberUtil::PhoneNumberType(type), &number)) return write("-", out);
  } else if (!library.util->GetExampleNumberForNonGeoEntity(int(region.country_code), &number)) {
    return write("-", out);
  }
  library.util->Format(number, PhoneNumberUtil::E164, &answer);
  return write(answer, out);
}
