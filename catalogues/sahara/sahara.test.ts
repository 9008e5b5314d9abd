// Sahara's declarations against the specification.
import { checkLifecycles, edgesOf } from 'homeostat'
import { expect, test } from 'vitest'
import { clusters, sahara } from './index.ts'

const set = Object.values(sahara)

test('check finds no error; what it warns of is known', () => {
  expect(checkLifecycles(set).map(({ severity, path, fault }) => `${severity} ${path}: ${fault}`)).toEqual([
    // A protected cluster that is imported in Deleting stays there: somebody took its protection away in the middle.
    'warning sahara.cluster.heal.Deleting.unowned.attempt: delete may be refused (it requires that isProtected is false), and then nothing leads out',
  ])
})

test('the five answers to failure', () => {
  const failures = edgesOf(clusters, set).filter(({ kind }) => kind === 'failure')
  const answer = (step: string) => [
    ...new Set(failures.filter(({ why }) => why.includes(step)).map(({ from, to }) => `${from} -> ${to}`)),
  ]
  expect(answer('create: validate ')).toEqual(['Validating -> Error'])
  expect(answer('scale: validateScaling ')).toEqual(['Validating -> Active'])
  expect(answer('create: spawn ')).toEqual(['Spawning -> Error'])
  expect(answer('scale: addInstances ')).toEqual([
    'Adding Instances -> Rollback',
    'Rollback -> Active',
    'Rollback -> Error',
  ])
  expect(answer('scale: decommission ')).toEqual(['Decommissioning -> Error'])
  expect(answer('scale: configureNew ')).toEqual(['Configuring -> Error'])
})

test('a delete that fails stays Deleting', () => {
  const deleting = edgesOf(clusters, set).filter(({ from }) => from === 'Deleting')
  expect(new Set(deleting.map(({ to }) => to))).toEqual(new Set(['gone']))
})
