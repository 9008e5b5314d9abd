// Creates through a connection that loses half of the answers: whoever asks again with the same key has made one thing, not two.
import { HttpClient } from '../../src/client.ts'
import { freePort, startServing } from '../../test/server/serving.ts'
import { startDroppingProxy } from './dropping-proxy.ts'

export interface CreatesOptions {
  readonly file: string
  readonly token: string
  readonly creates: number
  readonly say?: (text: string) => void
}

export interface CreatesResult {
  readonly asked: number
  readonly answers: number
  readonly dropped: number
  readonly ids: number
  readonly resources: number
  readonly audited: number
}

const atOnce = 50

export async function endureCreates({ file, token, creates, say = () => {} }: CreatesOptions): Promise<CreatesResult> {
  const serving = await startServing({ file, port: await freePort() })
  const proxy = await startDroppingProxy(Number(new URL(serving.url).port), 2)
  try {
    const through = new HttpClient({ url: `http://127.0.0.1:${proxy.port}`, token, retries: 40, retryMs: 1 })
    const straight = new HttpClient({ url: serving.url, token })
    const ids = new Set<string>()
    const create = async () => {
      const body = { properties: { size: 1 } }
      const { resource } = await through.call('createResource', { path: { type: 'shop.box' }, body })
      ids.add(resource.id)
    }
    for (let done = 0; done < creates; done += atOnce) {
      await Promise.all(Array.from({ length: Math.min(atOnce, creates - done) }, create))
      if (done % 1_000 === 0) say(`${done} of ${creates} creates, ${proxy.dropped} answers dropped`)
    }
    const list = await straight.call('listResources', { path: { type: 'shop.box' }, query: { total: 'true' } })
    const audit = await straight.call('verifyAudit', {})
    if (!audit.isSound) throw new Error('the chain of the audit is broken')
    const { answers, dropped } = proxy
    const resources = list.total ?? 0
    return { asked: creates, answers, dropped, ids: ids.size, resources, audited: audit.entries }
  } finally {
    await proxy.close()
    await serving.kill()
  }
}
