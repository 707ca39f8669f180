internal import Ohana

/// What shells and `man` are told of the tool; made of the help texts, so that it says the same.
extension HelpText {
  /// Shells that there is completion for.
  static let shells = ["bash", "zsh", "fish"]
  /// What `ohana help` explains beside verbs and stages.
  static let topics = ["functions", "keys", "pipeline", "exit", "man", "completion"]

  private static var names: [(name: String, summary: String)] {
    verbs.map { ($0.name, $0.summary) } + StageCatalog.all.map { ($0.help.name, $0.help.summary) }
  }

  /// Options behind a verb or the short form of a stage.
  private static func options(of name: String) -> [(name: String, text: String)] {
    let run = RunOption.all.map { ($0.name, $0.help) }
    if let verb = verbs.first(where: { $0.name == name }) {
      return verb.options.map { ($0.name, $0.text) } + verb.runOptions.map { ($0.name, $0.help) }
    }
    guard let entry = StageCatalog.entry(named: name) else { return [] }
    return entry.help.options.map { ($0.name, $0.text) } + run
  }

  /// Lines to be evaluated by a shell; nil for one that there is no completion for.
  static func completion(_ shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": "autoload -U +X bashcompinit && bashcompinit\n" + bash
    case "fish": fish
    default: nil
    }
  }

  /// Behind `then` come stages, behind a stage's name its options, and files everywhere.
  private static var bash: String {
    var lines = [
      "_ohana() {",
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" name=\"${COMP_WORDS[1]}\" at options=\"\"",
      "  for ((at = COMP_CWORD - 1; at > 1; at--)); do",
      "    if [[ ${COMP_WORDS[at - 1]} == then ]]; then name=\"then ${COMP_WORDS[at]}\"; break; fi",
      "  done", "  if ((COMP_CWORD == 1)); then",
      "    COMPREPLY=($(compgen -W \"\(names.map(\.name).joined(separator: " "))\" -- \"$word\"))", "    return",
      "  fi", "  if [[ $before == then ]]; then",
      "    COMPREPLY=($(compgen -W \"\(StageCatalog.all.map(\.help.name).joined(separator: " "))\" -- \"$word\"))", "    return", "  fi",
      "  if [[ $name == help ]]; then",
      "    COMPREPLY=($(compgen -W \"\((names.map(\.name) + topics).joined(separator: " "))\" -- \"$word\"))", "    return", "  fi",
      "  case $name in",
    ]
    for (name, _) in names {
      let options = options(of: name).map(\.name)
      if !options.isEmpty { lines.append("    \(name)) options=\"\(options.joined(separator: " "))\" ;;") }
    }
    for entry in StageCatalog.all where !entry.help.options.isEmpty {
      lines.append("    \"then \(entry.help.name)\") options=\"\(entry.help.options.map(\.name).joined(separator: " "))\" ;;")
    }
    lines += [
      "  esac",
      "  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$word\")); else COMPREPLY=($(compgen -f -- \"$word\") $(compgen -W then -- \"$word\")); fi",
      "}", "complete -o filenames -F _ohana ohana",
    ]
    return lines.joined(separator: "\n")
  }

  private static var fish: String {
    func quoted(_ text: String) -> String {
      "'"
        + text.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
        .split(separator: "'", omittingEmptySubsequences: false).joined(separator: "\\'") + "'"
    }
    var lines = names.map { "complete -c ohana -n __fish_use_subcommand -a \($0.name) -d \(quoted($0.summary))" }
    for entry in StageCatalog.all {
      lines.append(
        "complete -c ohana -n 'string match -q then -- (commandline -opc)[-1]' -a \(entry.help.name) -d \(quoted(entry.help.summary))")
    }
    for (name, _) in names {
      for option in options(of: name) {
        lines.append("complete -c ohana -n '__fish_seen_subcommand_from \(name)' -l \(option.name.dropFirst(2)) -d \(quoted(option.text))")
      }
    }
    return lines.joined(separator: "\n")
  }

  /// The manual page, in the macros of man(7).
  static var manual: String {
    func escaped(_ text: String) -> String {
      // Characters beyond ASCII by their numbers, as every troff takes them.
      let text = text.unicodeScalars.map { scalar in
        if scalar == "\\" { return "\\e" }
        if scalar == "-" { return "\\-" }
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return scalar.isASCII ? String(scalar) : "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
      }.joined()
      return text.first == "." || text.first == "'" ? "\\&" + text : text
    }
    func paragraphs(_ page: String) -> [String] {
      [".nf"] + page.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) } + [".fi"]
    }
    var lines = [
      ".TH OHANA 1 \"\" \"ohana \(Version.current)\" \"User Commands\"", ".SH NAME",
      "ohana \\- deduplicate, filter, map, sort and convert contact data sets of any size", ".SH SYNOPSIS", ".nf",
    ]
    lines +=
      verbs.flatMap { $0.usage.replacing(" | ohana ", with: "\nohana ").split(separator: "\n").map { escaped(String($0)) } } + [".fi"]
    for verb in verbs where verb.name != "version" {
      lines += [".SH \"\(verb.name.uppercased())\""] + paragraphs(page(verb))
    }
    lines.append(".SH STAGES")
    for entry in StageCatalog.all { lines += [".SS \(entry.help.name)"] + paragraphs(page(entry.help)) }
    lines +=
      [".SH KEYS"] + paragraphs(keysPage) + [".SH FUNCTIONS"] + paragraphs(functionsPage) + [".SH \"EXIT STATUS\""] + paragraphs(exitPage)
    return lines.joined(separator: "\n")
  }
}
