// A process that lost its lease begins another tenure; not beside others that have taken up other steps since.
import { agreeOnSteps, type Agreeing } from './agreement.ts'
import { settleAgain } from './strangers.ts'
import type { Tenure } from './tenure.ts'

/** False: the new lease was lost, too, and yet another tenure is begun. Throws `lifecycle_differs`, and `lifecycle_missing`. */
export async function isReborn(tenure: Tenure, agreeing: Agreeing): Promise<boolean> {
  // First without a number: one that is refused for long does not register all the while.
  await agreeOnSteps({ ...agreeing, me: 0 })
  const me = await tenure.begin()
  try {
    await settleAgain({ ...agreeing, me })
  } catch (error) {
    if (!tenure.lease.isLive) return false
    await tenure.stop(0)
    throw error
  }
  return tenure.lease.isLive
}
