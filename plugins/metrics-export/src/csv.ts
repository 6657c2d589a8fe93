import { yieldIfSliceOver } from '@svc/kernel';
import type { PointPage } from '@svc/plugin-metrics';
import { toNumberText } from './number-text.js';

const HEADER = 'name,step,epoch,value,ts,seq\n';

/** RFC 4180 with plain line feeds; a point without an epoch has an empty field. */
export async function* toCsv(pages: AsyncIterable<PointPage>): AsyncGenerator<string> {
  yield HEADER;
  for await (const { name, points } of pages) {
    const field = toField(name);
    await yieldIfSliceOver();
    let text = '';
    for (const { step, epoch, value, ts, seq } of points) {
      const epochText = epoch === null ? '' : toNumberText(epoch);
      text += `${field},${step},${epochText},${toNumberText(value)},${ts},${seq}\n`;
    }
    yield text;
  }
}

/** Text that begins like a formula gets an apostrophe in front, so that a spreadsheet does not evaluate it. */
function toField(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
