import AreaCode
import Ohana

let arguments = CommandLine.arguments.dropFirst()
guard let code = arguments.first, arguments.count > 1 else { fatalError("usage: area-code CODE FILE…") }
let source = ContactsDataSource(
  dataProviders: [FileDataProvider(arguments.dropFirst().map { FilePath($0) })], postProcessors: [AreaCodePostProcessor(code)])
for try await contact in source.contacts { print(contact.fullName ?? contact.lastName ?? "", contact.phones) }
