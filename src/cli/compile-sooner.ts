// A server runs the same few hundred functions with every operation. By itself V8 waits for 3,000 calls of each, and for 500 since a call
// last showed it something new, before it compiles them for good: an operation alone then takes a tenth longer for some seconds.
import { setFlagsFromString } from 'node:v8'

/** The flags have these names in the V8 of this version; another might only complain. */
const knownTo = '24'

/** For all of the process, from now on. */
export function compileSooner(): void {
  if (process.versions.node.split('.')[0] !== knownTo) return
  setFlagsFromString('--invocation-count-for-turbofan=500')
  setFlagsFromString('--minimum-invocations-after-ic-update=50')
}
