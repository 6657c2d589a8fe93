import { toPlainText } from '../output/table.js';
import { cutToWidth } from '../output/text-width.js';
import type { RunCopy } from './copy-run.js';

const ERASE = '\r\u001b[K';
const BAR_WIDTH = 24;
const DRAW_EVERY_MS = 100;

/** One row on the terminal that is drawn again and again; nothing elsewhere. */
export class ProgressBar {
  #drawnAt = -Infinity;
  #points = 0;

  constructor(
    private readonly total: number,
    private readonly stream: NodeJS.WriteStream = process.stderr,
  ) {}

  get isShown(): boolean {
    return this.stream.isTTY && process.env['TERM'] !== 'dumb';
  }

  draw(copy: RunCopy, done: number): void {
    const now = performance.now();
    if (!this.isShown || now - this.#drawnAt < DRAW_EVERY_MS) return;
    this.#drawnAt = now;
    const filled = Math.floor((done / this.total) * BAR_WIDTH);
    const bar = '#'.repeat(filled).padEnd(BAR_WIDTH, '.');
    const points = (this.#points + copy.readCount).toLocaleString('en');
    const text = `[${bar}] ${done}/${this.total} runs, ${points} points  ${copy.name ?? ''}`;
    this.stream.write(`${ERASE}${cutToWidth(toPlainText(text), this.stream.columns - 1)}`);
  }

  /** The points of a run that is done. */
  add(points: number): void {
    this.#points += points;
  }

  /** Before anything else is written to the terminal. */
  erase(): void {
    if (this.isShown) this.stream.write(ERASE);
  }
}
