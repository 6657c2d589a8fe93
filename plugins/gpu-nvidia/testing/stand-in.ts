import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** What the stand-in plays from now on. */
export interface SmiState {
  /** A file of `recordings`. */
  readonly recording?: string;
  /** So many GPUs like the first one of the recording. Left out: those of the recording. */
  readonly gpus?: number;
  /** GPUs that are not named any more, by their place. */
  readonly gone?: readonly number[];
  /** The processes of all GPUs. Left out: those of the recording. */
  readonly processes?: readonly {
    gpu: number;
    pid: number;
    mb: number;
    type?: string;
    name?: string;
    gi?: string;
  }[];
  /** The memory in use, by the place of the GPU. Left out: what the processes have, and 4 MiB. */
  readonly usedMb?: Readonly<Record<number, number>>;
  /** So long `-L` takes. */
  readonly listMs?: number;
  /** It says nothing any more, and goes on running. */
  readonly hangs?: boolean;
  /** It ends with that code, and says what stands in that file of `recordings`. */
  readonly exit?: { readonly says: string; readonly code: number };
}

/** A program that answers as nvidia-smi does. */
export class StandIn {
  readonly #script = path.join(import.meta.dirname, 'nvidia-smi.mjs');
  /** Holds the program, under the name that nvidia-smi has. */
  readonly dir = mkdtempSync(path.join(os.tmpdir(), 'svc-smi-'));
  readonly program = path.join(this.dir, 'nvidia-smi');

  constructor(state: SmiState) {
    writeFileSync(path.join(this.dir, 'starts'), '');
    this.play(state);
    this.install();
  }

  install(): void {
    const text = `#!/bin/sh\nexec "${process.execPath}" "${this.#script}" "${this.dir}" "$@"\n`;
    writeFileSync(`${this.program}.new`, text);
    chmodSync(`${this.program}.new`, 0o755);
    renameSync(`${this.program}.new`, this.program);
  }

  /** The program is not there any more; one that runs goes on. */
  uninstall(): void {
    rmSync(this.program);
  }

  play(state: SmiState): void {
    const file = path.join(this.dir, 'state.json');
    writeFileSync(`${file}.new`, JSON.stringify({ recording: '535-a100.xml', ...state }));
    renameSync(`${file}.new`, file);
  }

  /** What it was started with so far: the pid and the arguments of each time. */
  get starts(): { pid: number; args: string }[] {
    const lines = readFileSync(path.join(this.dir, 'starts'), 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => {
      const [pid, ...args] = line.split(' ');
      return { pid: Number(pid), args: args.join(' ') };
    });
  }

  remove(): void {
    rmSync(this.dir, { recursive: true });
  }
}

export function recordingOf(name: string): string {
  return readFileSync(path.join(import.meta.dirname, 'recordings', name), 'utf8');
}
