internal import CMalloc
internal import Dispatch
internal import Ohana

// Memory that was freed by one thread would otherwise lie idle while another takes new memory, and `--memory` would be passed.
ohana_share_heap()

// Arguments are taken as the bytes the kernel gave: a file name need not be UTF-8.
let words = (1..<max(1, Int(CommandLine.argc))).map { index in
  FilePath(
    bytes: Array(
      UnsafeBufferPointer(start: CommandLine.unsafeArgv[index]!, count: strlen(CommandLine.unsafeArgv[index]!)).map {
        UInt8(bitPattern: $0)
      }))
}
Descriptors.guardStandardOnes()
// write(2) tells of a reader that has had enough.
signal(SIGPIPE, SIG_IGN)
// These end the process as they do any other, with all that is kept for --resume in its place. The Swift library's backtrace of them would
// show memory that may hold values of contacts, and let the process go on.
var quitting = sigset_t()
sigemptyset(&quitting)
for number in [SIGQUIT, SIGABRT] {
  signal(number, SIG_DFL)
  sigaddset(&quitting, number)
}
pthread_sigmask(SIG_UNBLOCK, &quitting, nil)
if let obstacle = Descriptors.obstacle ?? AddressSpace.obstacle(words) { exit(Terminal.report(obstacle)) }
Task.detached { exit(await OhanaTool.run(words)) }
// The main thread only waits. An `await` up here would end it instead, which debuggers and profilers do not follow.
DispatchSemaphore(value: 0).wait()
