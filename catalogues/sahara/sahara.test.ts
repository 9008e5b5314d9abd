// Sahara's declarations against the specification.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkLifecycles, edgesOf } from 'homeostat'
import { expect, test } from 'vitest'
import { clusters, sahara } from './index.ts'

const set = Object.values(sahara)

test('check finds no error; what it warns of is known', () => {
  expect(checkLifecycles(set).map(({ severity, path, fault }) => `${severity} ${path}: ${fault}`)).toEqual([
    // The row before it takes the protected ones; an attempt at the others is accepted.
    'warning sahara.cluster.heal.AwaitingTermination.unowned[1].attempt: expire may be refused (it requires that isProtected is false and it is not being deleted already), and then nothing leads out',
    'warning sahara.cluster.heal.Deleting.unowned[1].attempt: delete may be refused (it requires that isProtected is false), and then nothing leads out',
    'warning sahara.cluster.heal.Force Deleting.unowned[1].attempt: delete may be refused (it requires that isProtected is false), and then nothing leads out',
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

test('every test that README.md names is there', () => {
  const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')
  const named = [...read('README.md').matchAll(/`([\w-]+\.test\.ts): ([^`]+)`/g)]
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter(([, file, name]) => !read(file!).includes(name!)).map(([whole]) => whole)).toEqual([])
})
