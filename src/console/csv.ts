// Lines for spreadsheets, made of what strangers have written.

/** What begins like a formula would be computed by whoever opens it: it is text, which spreadsheets take a leading ' for. */
export function csvCell(value: string | number | null): string {
  const text = String(value ?? '')
  const isFormula = typeof value === 'string' && /^[\s]*[=+\-@\t\r]/.test(text)
  return `"${(isFormula ? `'${text}` : text).replaceAll('"', '""')}"`
}
