// OpenSDS's declarations against the specification.
import { checkLifecycles, edgesOf } from 'homeostat'
import { expect, test } from 'vitest'
import { opensds, volumes } from './index.ts'

const set = Object.values(opensds)

test('check finds nothing', () => {
  expect(checkLifecycles(set)).toEqual([])
})

test('3.4: healing of a volume', () => {
  const healed = edgesOf(volumes, set).filter(({ kind }) => kind === 'heal')
  expect(healed.map(({ from, to, why }) => `${from} -> ${to}: ${why}`)).toEqual([
    'Creating -> Error: healed, if no run is recorded',
    'Extending -> Available: healed, if realSize answers grown',
    'Extending -> Available: healed, if realSize answers same',
    'Extending -> ErrorExtending: healed, if realSize answers unknown',
    'Deleting -> ErrorDeleting: healed, if no run is recorded',
    ...['Attaching', 'Detaching'].flatMap((from) => [
      `${from} -> InUse: healed, if one of its attachments is Attached or ErrorDetaching`,
      `${from} -> Available: healed`,
    ]),
  ])
})
