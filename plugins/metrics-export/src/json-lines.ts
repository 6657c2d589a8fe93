import { yieldIfSliceOver } from '@svc/kernel';
import type { PointPage } from '@svc/plugin-metrics';
import { toNumberText } from './number-text.js';

/** One object a line; `value` is a number, or one of the words that JSON has no number for. */
export async function* toJsonLines(pages: AsyncIterable<PointPage>): AsyncGenerator<string> {
  for await (const { name, points } of pages) {
    const start = `{"name":${JSON.stringify(name)},"step":`;
    await yieldIfSliceOver();
    let text = '';
    for (const { step, epoch, value, ts, seq } of points) {
      const epochText = epoch === null ? 'null' : toNumberText(epoch);
      text += `${start}${step},"epoch":${epochText},"value":${toJsonValue(value)},"ts":${ts},"seq":${seq}}\n`;
    }
    yield text;
  }
}

function toJsonValue(value: number): string {
  return Number.isFinite(value) ? toNumberText(value) : `"${value}"`;
}
