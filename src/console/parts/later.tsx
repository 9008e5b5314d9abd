// Pages that are read when they are first gone to, so that the first one is small; the rest are read while nobody waits. Not React's
// own lazy: it holds back what has come for 300 ms once it has shown that it waits.
import { useEffect, useState, type ComponentType } from 'react'
import { isThere } from '../api.ts'
import { after } from '../time.ts'
import { Loading } from './bits.tsx'

type Reading<Props> = () => Promise<{ readonly default: ComponentType<Props> }>

/** A browser does not fetch again what once failed, and the server may have newer files: then all is loaded anew, once. */
const reloadedKey = 'homeostat.reloaded'

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
      if (isRead) return undefined
      let stop = () => {}
      const read = () =>
        get().then(
          () => {
            sessionStorage.removeItem(reloadedKey)
            setRead(true)
          },
          (error: unknown) => isThere().then(() => reload(error), wait),
        )
      const wait = () => {
        stop = after(1_000, () => void read())
      }
      const reload = (error: unknown) => {
        if (sessionStorage.getItem(reloadedKey) === location.href) return setFault(error)
        sessionStorage.setItem(reloadedKey, location.href)
        location.reload()
      }
      void read()
      return () => stop()
    }, [isRead])
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
