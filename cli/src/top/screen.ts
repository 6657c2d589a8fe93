/** Another screen, without a cursor, on which a line that is too long is cut. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const ERASE_LINE = '\u001b[K';
const ERASE_BELOW = '\u001b[J';
const CTRL_C = '\u0003';

/** The second screen of the terminal. Until `close` the first one is hidden, and is as it was afterwards. */
export class Screen {
  readonly #onKey = (keys: Buffer): void => {
    if (/[qQ]/.test(keys.toString()) || keys.includes(CTRL_C)) this.onQuit();
  };

  /** `onQuit` is called when somebody presses q or Ctrl-C. */
  constructor(private readonly onQuit: () => void) {
    process.stdout.write(ENTER);
    if (!process.stdin.isTTY) return;
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#onKey);
  }

  get rows(): number {
    return process.stdout.rows || 24;
  }

  show(lines: readonly string[]): void {
    const shown = lines.slice(0, this.rows).map((line) => `${line}${ERASE_LINE}`);
    process.stdout.write(`${HOME}${shown.join('\r\n')}${ERASE_BELOW}`);
  }

  close(): void {
    if (process.stdin.isTTY) {
      process.stdin.off('data', this.#onKey);
      process.stdin.setRawMode(false);
      process.stdin.pause();
    }
    process.stdout.write(LEAVE);
  }
}
