/** The shortest text that reads back as the very same number; NaN and infinities as words, and the sign of -0 is kept. */
export function toNumberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
