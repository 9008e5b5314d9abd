// Which try of a step it is, in words: the command line and the console say the same.

interface Tried {
  /** In its round; 0 of a run that has ended. */
  readonly attempt: number
  readonly round: number
}

/** Whether something has failed since the step began. */
export const isTriedAgain = ({ attempt, round }: Tried): boolean => attempt > 1 || round > 1

/** Which attempt it is, and of which round of trying again later, from the second on. */
export const attemptWords = ({ attempt, round }: Tried): string =>
  `attempt ${attempt}${round > 1 ? ` of round ${round}` : ''}`
