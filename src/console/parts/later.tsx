// Pages that are read when they are first gone to, so that the first one is small; the rest are read while nobody waits. Not React's
// own lazy: it holds back what has come for 300 ms once it has shown that it waits.
import { useEffect, useState, type ComponentType } from 'react'
import { after } from '../time.ts'
import { Loading } from './bits.tsx'

type Reading<Props> = () => Promise<{ readonly default: ComponentType<Props> }>

const ahead: (() => Promise<unknown>)[] = []

export function later<Props extends object>(read: Reading<Props>): ComponentType<Props> {
  let Read: ComponentType<Props> | null = null
  const get = async () => {
    Read ??= (await read()).default
  }
  ahead.push(get)
  return function Later(props: Props) {
    const [fault, setFault] = useState<unknown>(null)
    const [isRead, setRead] = useState(Read !== null)
    useEffect(() => {
      if (!isRead) get().then(() => setRead(true), setFault)
    }, [isRead])
    // The server has newer files than this page.
    if (fault !== null)
      throw new Error('This page of the console could not be fetched: reload to get its newest version.')
    return Read === null ? <Loading /> : <Read {...props} />
  }
}

/** Reads all of them, one after the other, once the first page has settled. */
export function readAhead(ms = 2_000): void {
  const readNext = ([get, ...rest]: typeof ahead): void => {
    const goOn = () => readNext(rest)
    // What fails here is told when somebody goes there.
    if (get !== undefined) get().then(goOn, goOn)
  }
  after(ms, () => readNext(ahead))
}
