// Texts for rows, made cheaply: what repeats is quoted once, words of a closed set are small numbers.

/** Texts that repeat (who asked, for what) are quoted once. */
export class Quoted {
  private text = ''
  private quoted = '""'

  of(text: string): string {
    if (text !== this.text) {
      this.quoted = JSON.stringify(text)
      this.text = text
    }
    return this.quoted
  }
}

/** Times as text: those of one batch are mostly the same, and so many digits are slow to write. */
export class Times {
  private time = 0
  private text = '0'

  of(time: number): string {
    if (time !== this.time) {
      this.text = `${time}`
      this.time = time
    }
    return this.text
  }
}

/** The words in the order of their numbers. What is stored depends on these: never change a number, only add. */
export const wordsOf = <Word extends string>(codes: Readonly<Record<Word, number>>): readonly Word[] =>
  (Object.keys(codes) as Word[]).sort((a, b) => codes[a] - codes[b])
