// What a benchmark is to the program that runs it: a function that measures and says what it found.
import type { Ground } from './ground.ts'

export interface Options {
  /** Rounds of each measurement; figures are medians of them. */
  readonly runs: number
  /** Where files may be made; removed afterwards. */
  readonly folder: string
  readonly ground: Ground
  /** Shows what is going on. */
  readonly say: (text: string) => void
}

export interface Figure {
  /** The figure itself, what it is compared with in the same run, and the ratio of the two; where there are such. */
  readonly value: number
  readonly bare?: number
  readonly ratio?: number
  /** All that was measured, by name. */
  readonly details?: Readonly<Record<string, number>>
  /** For people: one row of the table. */
  readonly what: string
  readonly found: string
  readonly goal: string
  readonly isMet: boolean
}

export type Bench = (options: Options) => Promise<Figure[]>

export const thousands = (value: number): string => Math.round(value).toLocaleString('en')
export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`
