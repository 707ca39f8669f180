internal import Ohana

enum HelpCommand {
  static func run(_ words: inout ArgumentWords) throws -> Int32 {
    guard let topic = words.take()?.text else {
      Terminal.print(HelpText.overview)
      return 0
    }
    if topic == "completion" { return try completion(&words) }
    try words.expectNoMore(after: "help \(topic)")
    if let verb = HelpText.verbs.first(where: { $0.name == topic }) {
      Terminal.print(HelpText.page(verb))
    } else if let entry = StageCatalog.entry(named: topic) {
      Terminal.print(HelpText.page(entry.help))
    } else if topic == "exit" {
      Terminal.print(HelpText.exitPage)
    } else if topic == "keys" {
      Terminal.print(HelpText.keysPage)
    } else if topic == "pipeline" {
      Terminal.print(HelpText.pipelinePage)
    } else if topic == "functions" {
      Terminal.print(HelpText.functionsPage)
    } else if topic == "man" {
      Terminal.print(HelpText.manual)
    } else {
      let known = HelpText.verbs.map(\.name) + StageCatalog.all.map(\.help.name) + HelpText.topics
      let near = NearMiss.best(for: topic, among: known).map { "did you mean \($0)? " } ?? ""
      throw OhanaError(.usage, "unknown-topic", "there is no help on '\(topic)'", fix: near + "'ohana help' lists what there is")
    }
    return 0
  }

  private static func completion(_ words: inout ArgumentWords) throws -> Int32 {
    let known = HelpText.shells.joined(separator: ", ")
    guard let shell = words.take()?.text else {
      throw OhanaError(.usage, "missing-argument", "help completion: there is no shell", fix: "there are \(known)")
    }
    try words.expectNoMore(after: "help completion \(shell)")
    guard let text = HelpText.completion(shell) else {
      throw OhanaError(.usage, "unknown-topic", "there is no completion for '\(shell)'", fix: "there are \(known)")
    }
    Terminal.print(text)
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
