import { toReason } from '@svc/agent';
import { isMissing } from '@svc/agent/durable-file';
import { spawn, type ChildProcess } from 'node:child_process';
import { parseSmiLog, type SmiLog } from './smi-log.js';

const END = '</nvidia_smi_log>';
/** 8 GPUs take about 200 KB. */
const MAX_CHARS = 32 * 1024 * 1024;
const MAX_COMPLAINT = 300;

export interface SmiLoopOptions {
  readonly program: string;
  readonly intervalMs: number;
  readonly silentMs: number;
  readonly restartMs: number;
}

export interface SmiListener {
  /** `beganAt`: when the answer began, by performance.now(). */
  onLog(log: SmiLog, beganAt: number): void;
  /** It tells nothing now, for this reason: a clause about each GPU. Comes again while that lasts. */
  onTrouble(reason: string): void;
  /** There is no such program now. Comes again while that lasts. */
  onMissing(): void;
}

/**
 * One nvidia-smi that goes on answering `-q -x`, as starting it takes longer than an answer. When it ends or is not there, as when the driver is replaced, it is
 * started again after a while. When it is silent for too long it is killed. Must hold: there is one at a time, also when it cannot be killed
 * because a driver does not let go of it.
 */
export class SmiLoop {
  readonly #options: SmiLoopOptions;
  readonly #listener: SmiListener;
  #child: ChildProcess | null = null;
  #text = '';
  #complaint = '';
  #beganAt = 0;
  /** When it last answered, or was started. */
  #heardAt = 0;
  #isKilled = false;
  #watchdog: NodeJS.Timeout | undefined;
  #restart: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SmiLoopOptions, listener: SmiListener) {
    this.#options = options;
    this.#listener = listener;
  }

  start(): void {
    this.#spawn();
    this.#watchdog = setInterval(() => this.#check(), Math.max(50, this.#options.silentMs / 5)).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#watchdog);
    clearTimeout(this.#restart);
    // One that does not end must not keep the agent.
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
    this.#child?.unref();
    this.#child?.kill('SIGKILL');
  }

  #spawn(): void {
    const { program, intervalMs } = this.#options;
    const child: ChildProcess = spawn(program, ['-q', '-x', `--loop-ms=${intervalMs}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#text = '';
    this.#complaint = '';
    this.#heardAt = performance.now();
    this.#isKilled = false;
    // A program that could not be started may have no pipes, and no `close` either.
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => this.#take(chunk));
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => this.#complain(chunk));
    child.on('error', (error) =>
      child.pid === undefined ? this.#notStarted(error) : this.#complain(toReason(error)),
    );
    child.on('close', (code, signal) => child.pid !== undefined && this.#ended(code, signal));
  }

  #take(chunk: string): void {
    if (this.#text === '') this.#beganAt = performance.now();
    const from = Math.max(0, this.#text.length - END.length);
    this.#text += chunk;
    let end = this.#text.indexOf(END, from);
    while (end >= 0) {
      const answer = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + END.length).trimStart();
      this.#answered(answer);
      this.#beganAt = performance.now();
      end = this.#text.indexOf(END);
    }
    if (this.#text.length > MAX_CHARS) this.#text = '';
  }

  #answered(answer: string): void {
    this.#heardAt = performance.now();
    this.#complaint = '';
    this.#listener.onLog(parseSmiLog(answer), this.#beganAt);
  }

  #complain(text: string): void {
    this.#complaint = `${this.#complaint} ${text}`.trim().slice(0, MAX_COMPLAINT);
  }

  #notStarted(error: Error): void {
    if (this.#isClosed) return;
    if (isMissing(error)) this.#listener.onMissing();
    else this.#listener.onTrouble(`cannot be seen: nvidia-smi cannot be started: ${toReason(error)}`);
    this.#startAgain();
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isClosed) return;
    if (!this.#isKilled)
      this.#listener.onTrouble(`cannot be seen: nvidia-smi ${this.#lastWords(code, signal)}`);
    this.#startAgain();
  }

  #startAgain(): void {
    this.#child = null;
    this.#restart = setTimeout(() => this.#spawn(), this.#options.restartMs).unref();
  }

  /** What it has written beside answers. */
  #lastWords(code: number | null, signal: NodeJS.Signals | null): string {
    const lines = this.#text.split('\n').map((line) => line.trim());
    const words = lines.filter((line) => line !== '' && !line.startsWith('<'));
    const said = [this.#complaint, ...words].join(' ').trim().slice(0, MAX_COMPLAINT);
    return said === '' ? `ended ${signal === null ? `with ${code}` : `by ${signal}`}` : `says "${said}"`;
  }

  #check(): void {
    const silentMs = performance.now() - this.#heardAt;
    if (this.#child === null || silentMs < this.#options.silentMs) return;
    this.#listener.onTrouble(
      `cannot be seen: nvidia-smi has not answered for ${Math.round(this.#options.silentMs / 1000)} s`,
    );
    this.#isKilled = true;
    this.#child.kill('SIGKILL');
  }
}
