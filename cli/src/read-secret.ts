import { text } from 'node:stream/consumers';
import { Failure } from './failure.js';

const MAX_CHARACTERS = 4096;
const ENTER = /[\r\n]/;
const END_OF_INPUT = '\u0004';
const CTRL_C = '\u0003';
const ERASE = ['\u007f', '\b'];

/** A terminal that passes each key on, as `process.stdin` is one. */
export type Terminal = Pick<
  NodeJS.ReadStream,
  'setRawMode' | 'resume' | 'pause' | 'on' | 'off' | 'setEncoding'
>;

/** One line that the user types, which the terminal does not show. */
export async function askSecret(question: string, terminal: Terminal = process.stdin): Promise<string> {
  process.stderr.write(question);
  terminal.setRawMode(true);
  terminal.setEncoding('utf8');
  terminal.resume();
  try {
    return await readLine(terminal);
  } finally {
    terminal.setRawMode(false);
    terminal.pause();
    process.stderr.write('\n');
  }
}

function readLine(terminal: Terminal): Promise<string> {
  let line = '';
  return new Promise((resolve, reject) => {
    const end = (finish: () => void): void => {
      terminal.off('data', hear);
      finish();
    };
    const hear = (keys: string): void => {
      for (const key of keys) {
        if (key === CTRL_C) return end(() => reject(new Failure('nothing was saved: it was interrupted')));
        if (ENTER.test(key) || key === END_OF_INPUT) return end(() => resolve(line.trim()));
        line = ERASE.includes(key) ? line.slice(0, -1) : (line + key).slice(0, MAX_CHARACTERS);
      }
    };
    terminal.on('data', hear);
  });
}

/** All of standard input, for a secret that a program passes on. */
export async function readSecret(): Promise<string> {
  return (await text(process.stdin)).trim();
}
