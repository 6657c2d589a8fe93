import type { LogStream } from '@svc/contract';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadJson, writeDurable } from '../core/durable-file.js';
import { LineSplitter } from './line-splitter.js';
import { unlessFull } from './sparse-file.js';

const CHUNK_BYTES = 256 * 1024;

/** A place in a log: what stood before `to` is gone. */
export interface Place {
  /** Byte offset of a line. */
  readonly to: number;
  /** Lines that stood before it. */
  readonly lines: number;
  /** When it was made, in ms since the epoch. */
  readonly at: number;
}

/** Where a log begins by now. */
export interface LogHead extends Place {
  /** Where the first byte of its file stands in the log: higher each time that the job has emptied the file. */
  readonly start: Place;
}

export type LogHeads = Readonly<Record<LogStream, LogHead>>;

const BEGINNING: Place = { to: 0, lines: 0, at: 0 };
export const WHOLE_LOG: LogHead = { ...BEGINNING, start: BEGINNING };
export const WHOLE_LOGS: LogHeads = { stdout: WHOLE_LOG, stderr: WHOLE_LOG };

const toFile = (dir: string): string => path.join(dir, 'cut.json');

/** The heads of the attempt in that directory. Their file is made when there is none: on a full disk it can only be written over. */
export async function ensureLogHeads(dir: string): Promise<LogHeads> {
  const content = JSON.stringify(WHOLE_LOGS);
  await writeFile(toFile(dir), content, { flag: 'wx', mode: 0o600 }).catch(() => {});
  const saved = await loadJson<Partial<Record<LogStream, Partial<LogHead>>>>(toFile(dir));
  return { stdout: { ...WHOLE_LOG, ...saved?.stdout }, stderr: { ...WHOLE_LOG, ...saved?.stderr } };
}

/** Must hold: they are on the disk before any byte goes. */
export async function saveLogHeads(dir: string, heads: LogHeads): Promise<void> {
  await writeDurable(toFile(dir), heads).catch(async (error: unknown) => {
    unlessFull(error);
    await overwrite(toFile(dir), Buffer.from(JSON.stringify(heads)));
  });
}

/** Takes no room: the file has its block already. Must hold: less than a sector, which a disk writes as a whole. */
async function overwrite(file: string, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.write(bytes, 0, bytes.length, 0);
    await handle.truncate(bytes.length);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * A cut behind `from`, at the first line that begins at `target` or behind it; before that when no line begins there yet, and
 * `from` itself when none begins at all. Reads what lies between, in constant memory.
 */
export async function findLogHead(file: string, from: LogHead, target: number, at: number): Promise<LogHead> {
  const handle = await open(file, 'r');
  try {
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const splitter = new LineSplitter(from.to, false);
    let cut = from;
    while (cut.to < target) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, splitter.position - from.start.to);
      if (bytesRead === 0) break;
      const { ends } = splitter.push(buffer.subarray(0, bytesRead));
      cut = advance(cut, ends, splitter.restart, target, at);
    }
    return cut;
  } finally {
    await handle.close();
  }
}

function advance(
  cut: LogHead,
  ends: readonly number[],
  restart: number,
  target: number,
  at: number,
): LogHead {
  const index = ends.findIndex((end) => end >= target);
  const taken = index < 0 ? ends.length : index + 1;
  const to = ends[index] ?? restart;
  return to <= cut.to ? cut : { ...cut, to, lines: cut.lines + taken, at };
}
