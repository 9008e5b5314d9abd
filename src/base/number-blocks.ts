// Numbers that many give out by themselves: each has a block of its own, so that none is given twice. All of them are below 2 ** 53.
import { Defect } from './assert.ts'

/** The first so many have 2 ** 32 numbers each; whoever comes later 2 ** 26: a store that was restored often counts its workers in millions. */
const wideBlocks = 2 ** 20
const wide = 2 ** 32
const narrow = 2 ** 26
const narrowFrom = wideBlocks * wide

/** There are blocks for so many. */
export const blocks = wideBlocks + (2 ** 53 - narrowFrom) / narrow

/** The nth number, from 1 on, of this block. */
export function numberIn(block: number, n: number): number {
  const isWide = block < wideBlocks
  if (n >= (isWide ? wide : narrow) || block >= blocks)
    throw new Defect(`block ${block} has no number ${n}: start this process again`)
  return isWide ? block * wide + n : narrowFrom + (block - wideBlocks) * narrow + n
}

/** The block that a number is of. */
export const blockOf = (number: number): number =>
  number < narrowFrom ? Math.floor(number / wide) : wideBlocks + Math.floor((number - narrowFrom) / narrow)
