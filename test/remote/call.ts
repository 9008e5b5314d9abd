// A call as the engine makes it, for tests that talk to a remote driver without an engine.
import type { RemoteCall } from '../../src/remote/remote-driver.ts'

export const secret = 'secret-of-the-remote-tests-0123456789'

export function callOf(changes: Partial<RemoteCall> & { readonly abort?: AbortController } = {}): RemoteCall {
  return {
    resource: { type: 'shop.disk', id: 'd-1' } as RemoteCall['resource'],
    related: {},
    input: null,
    results: {},
    item: undefined,
    ledger: [],
    name: 'shop.disk/d-1/disk/1',
    key: '1-1/step/0//0',
    epoch: 1,
    attempt: 1,
    phase: 'step',
    run: '1-1',
    operation: 'create',
    deadlineAt: 0,
    forced: false,
    signal: (changes.abort ?? new AbortController()).signal,
    progress: () => {},
    ...changes,
  }
}
