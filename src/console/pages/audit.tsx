// Who did what, when, from where and why, with the chain of hashes verified, and an export for those who must keep it.
import { useState } from 'react'
import { auditWords } from '../../protocol/audit-words.ts'
import { api, useCall, useLooksFurther, usePages, wordsOf, type AnswerOf } from '../api.ts'
import { csvCell } from '../csv.ts'
import { At, Empty, Loading, More, PageHead, Read, Table, Tag, useSettled, useTitle } from '../parts/bits.tsx'
import { toast } from '../parts/toasts.tsx'

type Entry = AnswerOf<'listAudit'>['items'][number]

const pageSize = 500

/** All entries, page by page. */
async function readAll(): Promise<readonly Entry[]> {
  const all: Entry[] = []
  for (let pageToken: string | undefined; ;) {
    const page = await api.call('listAudit', {
      query: { pageSize, ...(pageToken === undefined ? {} : { pageToken }) },
    })
    all.push(...page.items)
    if (page.nextPageToken === null) return all
    pageToken = page.nextPageToken
  }
}

function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text]))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}

const columns = ['n', 'at', 'principal', 'address', 'tenant', 'action', 'target', 'outcome', 'reason', 'hash'] as const

async function exportAs(form: 'jsonl' | 'csv'): Promise<void> {
  let all: readonly Entry[]
  try {
    all = await readAll()
  } catch (error) {
    return toast('bad', `Nothing was saved, the audit could not be read: ${wordsOf(error)}`)
  }
  const lines =
    form === 'jsonl'
      ? all.map((one) => JSON.stringify(one))
      : [columns.join(','), ...all.map((one) => columns.map((name) => csvCell(one[name])).join(','))]
  save(`homeostat-audit.${form}`, `${lines.join('\n')}\n`)
  toast('good', `${all.length} entries were saved.`)
}

export default function Audit() {
  useTitle('Audit')
  const chain = useCall('verifyAudit', {}, { everyMs: 30_000 })
  const [text, setText] = useState('')
  const q = useSettled(text)
  const audit = usePages(
    'listAudit',
    { query: { pageSize, order: 'newest', ...(q === '' ? {} : { q }) } },
    { everyMs: q === '' ? 5_000 : 30_000, keep: true },
  )
  const items = audit.data?.pages.flatMap((page) => page.items) ?? []
  const looksFurther = useLooksFurther(audit, items.length)
  return (
    <>
      <PageHead
        title="Audit"
        lead={
          chain.data === undefined ? (
            'Computing the chain of hashes ...'
          ) : chain.data.isSound ? (
            <>
              <Tag tone="good">sound</Tag>{' '}
              {chain.data.entries === 1 ? 'One entry' : `All ${chain.data.entries.toLocaleString('en')} entries`} fit
              {chain.data.entries === 1 ? 's its' : ' their'} chain of hashes.
            </>
          ) : (
            <>
              <Tag tone="bad">broken</Tag> Entry {chain.data.brokenAt} does not fit its chain of hashes: somebody
              changed it.
            </>
          )
        }
      >
        <input
          type="search"
          aria-label="Filter the audit"
          placeholder="who, what or why"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="button" onClick={() => void exportAs('jsonl')}>
          Export JSONL
        </button>
        <button type="button" onClick={() => void exportAs('csv')}>
          Export CSV
        </button>
      </PageHead>
      <div className="panel flush">
        <Read from={audit}>
          {() => {
            if (looksFurther) return <Loading />
            if (items.length === 0)
              return q === '' ? (
                <Empty title="Nobody has changed anything yet.">Whatever changes something is listed here.</Empty>
              ) : (
                <Empty title="Nothing fits.">No entry of the whole audit contains it. Take a part of it away.</Empty>
              )
            return (
              <Table className="stacks" heads={['When', 'Who', 'What', 'Target', 'Outcome', 'Why']}>
                {items.map((one) => (
                  <tr key={one.n}>
                    <td>
                      <At time={one.at} />
                    </td>
                    <td>
                      {one.principal} <span className="quiet">{one.address}</span>
                    </td>
                    <td className="mono">{auditWords(one)}</td>
                    <td className="mono">{one.target}</td>
                    <td>
                      <Tag tone={one.outcome === 'done' ? 'good' : one.outcome === 'begun' ? 'info' : 'bad'}>
                        {one.outcome}
                      </Tag>
                    </td>
                    <td className="prose">{one.reason}</td>
                  </tr>
                ))}
              </Table>
            )
          }}
        </Read>
        {!looksFurther && <More from={audit}>{q === '' ? 'Older entries' : 'Look further back'}</More>}
      </div>
    </>
  )
}
