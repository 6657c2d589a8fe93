import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Failure } from '../failure.js';
import type { ReadyMessage } from '../lifetime.js';
import { note } from '../output/print.js';

export interface Child {
  readonly name: string;
  /** Its ready message. Rejects when it ends before. */
  readonly ready: Promise<ReadyMessage['ready']>;
  /** How it ended, in words. Never rejects. */
  readonly ended: Promise<string>;
  /** Stops its output to the terminal: during the shutdown it would only report that the other process has ended. */
  silence(): void;
  /** SIGTERM, and SIGKILL after the grace; resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Runs another command of this program in a separate session, so that Ctrl-C reaches only `svc up`, which decides the order of the
 * shutdown. However this process ends, the child sees the IPC channel close and ends too.
 */
export function startChild(name: string, args: readonly string[], env: NodeJS.ProcessEnv): Child {
  const child = spawn(process.execPath, [process.argv[1] ?? '', ...args], {
    detached: true,
    env,
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(signal ? `ended by ${signal}` : `ended with status ${code}`),
    );
  });
  const ready = new Promise<ReadyMessage['ready']>((resolve, reject) => {
    child.once('message', (message) => resolve((message as ReadyMessage).ready));
    void ended.then((how) => reject(new Failure(`the ${name} ${how}`)));
  });
  ready.catch(() => undefined);
  let isSilent = false;
  if (child.stderr) {
    relay(child.stderr, (text) => {
      if (!isSilent) note(`${name}: ${text}`);
    });
  }
  return {
    name,
    ready,
    ended,
    silence: () => void (isSilent = true),
    async stop(graceMs) {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

const WARNING_LEVEL = 40;

/** Lines of the structured log from warning up, in a readable form; other lines as they are. */
function relay(stream: NodeJS.ReadableStream, print: (text: string) => void): void {
  createInterface({ input: stream }).on('line', (line) => {
    const entry = parseLogEntry(line);
    if (entry === null) print(line.replace(/^svc: /, ''));
    else if (entry.level >= WARNING_LEVEL) print(`${entry.msg}${entry.err ? ` (${entry.err.message})` : ''}`);
  });
}

interface LogEntry {
  readonly level: number;
  readonly msg: string;
  readonly err?: { readonly message: string };
}

function parseLogEntry(line: string): LogEntry | null {
  try {
    const entry = JSON.parse(line) as Partial<LogEntry>;
    return typeof entry.level === 'number' && typeof entry.msg === 'string' ? (entry as LogEntry) : null;
  } catch {
    return null;
  }
}
