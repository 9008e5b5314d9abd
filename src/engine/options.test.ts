// Settings that are left out.
import { expect, test } from 'vitest'
import { defaultSettings, settingsOf } from './options.ts'

test('a setting that is given as undefined is as by default: a lease of undefined would never end', () => {
  expect(settingsOf({ leaseMs: undefined as unknown as number, name: 'mine' })).toEqual({
    ...defaultSettings,
    name: 'mine',
  })
  expect(settingsOf()).toEqual(defaultSettings)
})
