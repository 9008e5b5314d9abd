// Why something counts as stuck, in words: the command line and the console say the same.

export const foundWords: Readonly<Record<string, string>> = {
  ownerLost: 'its worker is gone',
  overdue: 'its deadline has passed',
  unowned: 'no run is recorded',
  drifted: 'the real world differs from the record',
}
