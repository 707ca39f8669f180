internal import Ohana

enum HelpCommand {
  static func run(_ words: inout ArgumentWords) throws -> Int32 {
    guard let topic = words.take()?.text else {
      Terminal.print(HelpText.overview)
      return 0
    }
    try words.expectNoMore(after: "help \(topic)")
    if let verb = HelpText.verbs.first(where: { $0.name == topic }) {
      Terminal.print(HelpText.page(verb))
    } else if let entry = StageCatalog.entry(named: topic) {
      Terminal.print(HelpText.page(entry.help))
    } else if topic == "exit" {
      Terminal.print(HelpText.exitPage)
    } else if topic == "keys" {
      Terminal.print(HelpText.keysPage)
    } else if topic == "functions" {
      Terminal.print(HelpText.functionsPage)
    } else {
      let known = HelpText.verbs.map(\.name) + StageCatalog.all.map(\.help.name) + ["functions", "keys", "exit"]
      let near = NearMiss.best(for: topic, among: known).map { "did you mean \($0)? " } ?? ""
      throw OhanaError(.usage, "unknown-topic", "there is no help on '\(topic)'", fix: near + "'ohana help' lists what there is")
    }
    return 0
  }
}

enum VersionCommand {
  static func run(_ words: inout ArgumentWords) throws -> Int32 {
    try words.expectNoMore(after: "version")
    Terminal.print("ohana \(Version.current)")
    Terminal.print("phone number metadata \(PhoneNumbers.metadataVersion)")
    return 0
  }
}
