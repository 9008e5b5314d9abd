// Pages that are read when they are first gone to, so that the first one is small; the rest are read while nobody waits. Not React's
// own lazy: it holds back what has come for 300 ms once it has shown that it waits.
import { useEffect, useState, type ComponentType } from 'react'
import { isThere } from '../api.ts'
import { after } from '../time.ts'
import { Loading, PageHead, Problem } from './bits.tsx'

type Reading<Props> = () => Promise<{ readonly default: ComponentType<Props> }>

/** A browser does not fetch again what once failed, and the server may have newer files: then all is loaded anew, once. */
const reloadedKey = 'homeostat.reloaded'

/** Between two questions whether somebody answers again. */
const againMs = 1_000

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
    const [isAlone, setAlone] = useState(false)
    useEffect(() => {
      if (isRead) return undefined
      let isGone = false
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
        if (isGone) return
        setAlone(true)
        stop = after(againMs, () => void read())
      }
      const reload = (error: unknown) => {
        if (isGone) return
        if (sessionStorage.getItem(reloadedKey) === location.href) return setFault(error)
        sessionStorage.setItem(reloadedKey, location.href)
        location.reload()
      }
      void read()
      return () => {
        isGone = true
        stop()
      }
    }, [isRead])
    if (fault !== null)
      throw new Error('This page of the console could not be fetched: reload to get its newest version.')
    if (Read !== null) return <Read {...props} />
    if (!isAlone) return <Loading />
    return (
      <>
        <PageHead title="This page is not here yet." />
        <Problem error="The server does not answer. The page comes by itself when it does." />
      </>
    )
  }
}

/** Reads all of them, one after the other, once the first page has settled; while nobody answers, none: it would stay failed. */
export function readAhead(ms = 2_000): void {
  const readNext = ([get, ...rest]: typeof ahead): void => {
    const goOn = () => readNext(rest)
    const whenThere = (): unknown => isThere().then(goOn, () => after(againMs, whenThere))
    // What fails here is told when somebody goes there.
    if (get !== undefined) get().then(goOn, whenThere)
  }
  after(ms, () => readNext(ahead))
}
