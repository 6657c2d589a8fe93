import type { LogLine } from '@svc/contract';
import { toPrintable } from './clip.js';
import { toShowableText } from './showable.js';

export interface FoldedLine {
  readonly seq: number;
  readonly stream: string;
  readonly text: string;
  /** How many lines like it this one stands for. */
  readonly repeated: number;
  /** The text as it was written, where it was cut. */
  readonly written?: string;
}

const LONGEST_LINE = 400;
/** Of a longer line its ends are read. */
const LONGEST_WRITTEN = 4_000;
const TROUBLE =
  /\b(?:[Ee]rrors?|ERROR|[Ff]atal|FATAL|CRITICAL|[Pp]anic|[Kk]illed|[Ff]ailed|FAILED|[Aa]borted|[Oo]ut of memory|Segmentation fault|core dumped)\b|Traceback \(most recent call last\)|[A-Za-z](?:Error|Exception)\b/;
const PROGRESS = /\d+\s*%\|?|\|[ #=█▏▎▍▌▋▊▉>-]+\||\b\d+\/\d+\b.*(?:it\/s|s\/it|ETA|eta)/;

/** Equal lines one after the other, and the states of a progress bar, become the last of them. */
export function foldLines(lines: readonly LogLine[]): FoldedLine[] {
  const folded: (FoldedLine & { readonly form: string })[] = [];
  for (const { seq, stream, text } of lines) {
    const shown = shorten(toPrintable(text));
    const form = PROGRESS.test(shown) ? `${stream} progress` : `${stream} ${shown}`;
    const before = folded.at(-1);
    const repeated = before?.form === form ? before.repeated + 1 : 1;
    if (repeated > 1) folded.pop();
    folded.push({
      seq,
      stream,
      text: shown,
      repeated,
      form,
      ...(text.length > LONGEST_LINE && { written: text }),
    });
  }
  return folded.map(({ form: _form, ...line }) => line);
}

/** A line as it is shown: secrets are masked before the line is cut, so that no part of one is left. */
export function toShownLine({ written, ...line }: FoldedLine): FoldedLine {
  if (written === undefined) return line;
  const half = LONGEST_WRITTEN / 2;
  const ends =
    written.length > LONGEST_WRITTEN ? `${written.slice(0, half)} … ${written.slice(-half)}` : written;
  return { ...line, text: shorten(toShowableText(ends)) };
}

/** The last lines that tell of trouble, the newest first. */
export function errorLines(lines: readonly FoldedLine[], most: number): FoldedLine[] {
  return lines
    .filter(({ text }) => TROUBLE.test(text))
    .slice(-most)
    .reverse();
}

function shorten(text: string): string {
  if (text.length <= LONGEST_LINE) return text;
  const half = LONGEST_LINE / 2;
  return `${text.slice(0, half).replace(/[\ud800-\udbff]$/, '')} … ${text.slice(-half).replace(/^[\udc00-\udfff]/, '')}`;
}
