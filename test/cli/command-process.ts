// Carries out one command after another in one process, as each would be in one of its own, but without its start: for tests of many
// commands that say something. That a command ends, and with what code, is seen where it is a process (flow.test.ts, serve.test.ts).
import { main } from '../../src/cli/cli.ts'

const told = { out: '', err: '' }
process.stdout.write = (text) => ((told.out += String(text)), true)
process.stderr.write = (text) => ((told.err += String(text)), true)
// Each command listens for a reader that has gone.
process.stdout.setMaxListeners(0)

process.on('message', (words: readonly string[]) => {
  Object.assign(told, { out: '', err: '' })
  process.exitCode = 0
  void main(words).then(() => process.send!({ exit: Number(process.exitCode), ...told }))
})
process.on('disconnect', () => process.exit(0))
