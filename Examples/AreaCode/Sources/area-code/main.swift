import AreaCode
import Foundation
import Ohana

func fail(_ message: String, status: Int32) -> Never {
  FileHandle.standardError.write(Data("area-code: \(message)\n".utf8))
  exit(status)
}

let arguments = CommandLine.arguments.dropFirst()
guard let code = arguments.first, arguments.count > 1 else { fail("usage: area-code CODE FILE…", status: 2) }
let source = ContactsDataSource(
  dataProviders: [FileDataProvider(arguments.dropFirst().map { FilePath($0) })], postProcessors: [AreaCodePostProcessor(code)])
do {
  for try await contact in source.contacts { print(contact.fullName ?? contact.lastName ?? "", contact.phones) }
} catch let error as OhanaError {
  fail("\(error)", status: error.category.rawValue)
}
