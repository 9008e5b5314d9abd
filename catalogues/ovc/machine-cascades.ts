// Steps by which an account or a cloudspace takes its machines along. Clones before originals: an original with a clone refuses at
// first, and is asked again.
import { notInBin, sameReason } from './recycle-bin.ts'
import { liveMachines } from './related-statuses.ts'

const toBin = { operation: 'delete', in: liveMachines, input: sameReason } as const

export const machinesToBin = {
  deleteClones: { during: 'DELETING', when: notInBin, ask: { machines: { ...toBin, failed: 'goOn' } } },
  deleteMachines: { during: 'DELETING', when: notInBin, ask: { machines: toBin } },
} as const

/** Also those in the bin, and what is broken. */
const away = { operation: 'destroy', in: [...liveMachines, 'DELETED', 'ERROR'], input: sameReason } as const

export const machinesAway = {
  destroyClones: { during: 'DESTROYING', ask: { machines: { ...away, failed: 'goOn' } } },
  destroyMachines: { during: 'DESTROYING', ask: { machines: away } },
} as const
