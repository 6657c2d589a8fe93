import type { MetricPoint } from '@svc/contract';
import { DIRECTIONS, SEVERITIES, toMetricValue } from '@svc/contract/protocol';
import { randomBytes, randomUUID } from 'node:crypto';
import { leave } from './current.js';
import { untrack, type Ending } from './endings.js';
import { warnOnce } from './notices.js';
import { Outbox } from './outbox.js';
import { toHostPath, toRealPath } from './host-path.js';
import { sizeBytesOf } from './path-size.js';
import type { SdkRecord } from './records.js';
import {
  FINISH_STATUSES,
  type CheckpointOptions,
  type EventOptions,
  type FinishStatus,
  type LogOptions,
  type MetricMeaning,
  type Metrics,
  type Run,
} from './run-interface.js';
import { Sender, warnUndelivered } from './sender.js';
import type { Sink } from './sink.js';
import { copyOf, MAX_ATTACHED_BYTES, problemOf, textOf, toObject, toText, toValues } from './values.js';

export interface RunFacts {
  readonly id: string | null;
  readonly name: string | null;
  readonly url: string | null;
  readonly isAttached: boolean;
  /** This process describes the run, and not the one of the first rank. */
  readonly isDescribed: boolean;
  /** null: nobody waits for signs of life, as in a job. */
  readonly signEveryMs: number | null;
  readonly config: object;
  readonly queuePoints: number;
  readonly flushTimeoutMs: number;
}

/** Each process that writes to a run numbers its points from a random start below 2^52: two of them do not overlap. */
const SEQ_START_BITS = 52n;

/** How a run ends with its process. That of a job's attempt is ended by the server, with the attempt. */
const OWN_STATUS: Record<Ending, FinishStatus> = {
  clean: 'SUCCEEDED',
  failed: 'FAILED',
  terminated: 'CANCELLED',
};

export class ReportingRun implements Run {
  readonly id: string | null;
  readonly name: string | null;
  readonly isAttached: boolean;
  readonly url: string | null;
  #config: Readonly<Record<string, unknown>>;
  readonly #lastValues = new Map<string, number>();
  readonly #signs: NodeJS.Timeout | undefined;
  readonly #outbox: Outbox;
  readonly #sender: Sender;
  #nextSeq = Number(randomBytes(8).readBigUInt64BE() >> (64n - SEQ_START_BITS));
  #nextStep = 0;
  #isClosed = false;

  constructor(
    private readonly facts: RunFacts,
    private readonly sink: Sink,
    description: readonly SdkRecord[],
  ) {
    this.id = facts.id;
    this.name = facts.name;
    this.isAttached = facts.isAttached;
    this.url = facts.url;
    this.#config = Object.freeze(copyOf(facts.config));
    this.#outbox = new Outbox(facts.queuePoints);
    this.#sender = new Sender(this.#outbox, sink);
    for (const record of description) this.#addRecord(record);
    if (facts.signEveryMs !== null)
      this.#signs = setInterval(() => void this.#giveSign(), facts.signEveryMs).unref();
    Object.freeze(this);
  }

  get config(): Readonly<Record<string, unknown>> {
    return this.#config;
  }

  get summary(): Readonly<Record<string, number>> {
    return Object.freeze(Object.fromEntries(this.#lastValues));
  }

  updateConfig(changes: object): void {
    this.#safely('updateConfig', () => this.#updateConfig(changes));
  }

  defineMetric(name: string, meaning: MetricMeaning): void {
    this.#safely('defineMetric', () => this.#defineMetric(String(name), meaning));
  }

  log(metrics: Metrics, options?: LogOptions): void {
    this.#safely('log', () => this.#log(metrics, options ?? {}));
  }

  checkpoint(file: string, options?: CheckpointOptions): void {
    this.#safely('checkpoint', () => this.#checkpoint(toRealPath(String(file)), options ?? {}));
  }

  event(title: string, options?: EventOptions): void {
    this.#safely('event', () => this.#event(title, options ?? {}));
  }

  #updateConfig(changes: object): void {
    this.#config = Object.freeze({ ...this.#config, ...changes });
    const config = toObject(this.#config, 'the config');
    if (config && this.facts.isDescribed) this.#addRecord({ kind: 'update', body: { config } });
  }

  #defineMetric(name: string, { direction, unit, primary }: MetricMeaning): void {
    const isKnown = direction === undefined || DIRECTIONS.includes(direction);
    const problem = isKnown
      ? problemOf(name)
      : `direction ${textOf(direction)} is not one of ${DIRECTIONS.join(', ')}`;
    if (problem !== null)
      return this.#warn(`define ${name}`, `defineMetric("${name}") is ignored: ${problem}`);
    const body = {
      ...(direction !== undefined && { direction }),
      ...(unit !== undefined && { unit: toText(unit, 50) }),
      ...(primary !== undefined && { is_primary: primary }),
    };
    if (this.facts.isDescribed) this.#addRecord({ kind: 'metric', name, ts: Date.now(), body });
  }

  #log(metrics: Metrics, { step, epoch }: LogOptions): void {
    const at = step ?? this.#nextStep;
    if (!Number.isSafeInteger(at))
      return this.#warn('step', `step ${textOf(at)} is not a whole number; its values are left out`);
    if (typeof metrics !== 'object' || metrics === null)
      return this.#warn('log', `log() takes an object of names and numbers, not ${textOf(metrics)}`);
    const values = [...toValues(metrics)];
    if (values.length === 0) return;
    this.#nextStep = at + 1;
    const rest = { step: at, ts: Date.now(), ...this.#toEpoch(epoch) };
    const points: MetricPoint[] = [];
    for (const [name, value] of values) {
      this.#lastValues.set(name, value);
      points.push({ seq: this.#nextSeq++, name, value: toMetricValue(value), ...rest });
    }
    if (this.#refuseIfClosed()) return;
    this.#outbox.addPoints(points);
    this.#wake();
  }

  #checkpoint(place: string, { step, epoch, metadata }: CheckpointOptions): void {
    const at = step ?? (this.#nextStep > 0 ? this.#nextStep - 1 : undefined);
    const attached = metadata && toObject(metadata, 'the metadata of a checkpoint', MAX_ATTACHED_BYTES);
    const body: Extract<SdkRecord, { kind: 'checkpoint' }>['body'] = {
      path: toHostPath(place, process.env),
      ...(Number.isSafeInteger(at) && { step: at as number }),
      ...this.#toEpoch(epoch),
      ...(attached && { metadata: attached }),
    };
    const complete = async (): Promise<void> => {
      Object.assign(body, { size: await sizeBytesOf(place) });
    };
    this.#addRecord({ kind: 'checkpoint', ts: Date.now(), body, complete });
  }

  #event(title: string, { message, severity = 'info', data }: EventOptions): void {
    const isKnown = SEVERITIES.includes(severity);
    if (!isKnown)
      this.#warn(
        'severity',
        `severity ${textOf(severity)} is not one of ${SEVERITIES.join(', ')}; using info`,
      );
    const attached = data && toObject(data, 'the data of an event', MAX_ATTACHED_BYTES);
    const body = {
      title: toText(title, 500) || '(no title)',
      severity: isKnown ? severity : 'info',
      ...(message !== undefined && { message: toText(message, 20_000) }),
      ...(attached && { data: attached }),
    };
    this.#addRecord({ kind: 'event', ts: Date.now(), key: randomUUID(), body });
  }

  flush(timeoutMs = this.facts.flushTimeoutMs): Promise<boolean> {
    return this.#sender.flush(timeoutMs);
  }

  async finish(status: FinishStatus = 'SUCCEEDED'): Promise<void> {
    if (FINISH_STATUSES.includes(status)) return this.#close(status, this.facts.flushTimeoutMs);
    this.#warn(
      'finish',
      `finish(${textOf(status)}) is ignored: the status is one of ${FINISH_STATUSES.join(', ')}`,
    );
  }

  /** The end of the stack is left out first: the innermost frames stand at its beginning. */
  reportFailure(error: Error): void {
    this.#safely('an uncaught error', () => {
      const { name, message } = error;
      const data = { exception: name };
      this.event(`${name}: ${message}`, { message: error.stack ?? message, severity: 'critical', data });
    });
  }

  /** Must hold: no object that a training hands over, whatever it does when it is read, reaches the training as an exception. */
  #safely(call: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#warn(`unusable ${call}`, `${call} is left out: what it was given threw ${textOf(error)}`);
    }
  }

  /** The process ends, and there is time to deliver. */
  end(ending: Ending, timeoutMs = this.facts.flushTimeoutMs): Promise<void> {
    return this.#close(this.#statusAt(ending), timeoutMs);
  }

  /** The process is gone when this returns: what was not delivered is written down. */
  endNow(ending: Ending): void {
    this.#shut(this.#statusAt(ending));
    this.#keepRest();
  }

  /** Not while something is on its way: that is a sign itself. */
  async #giveSign(): Promise<void> {
    if (this.#outbox.isEmpty && !(await this.sink.sign())) clearInterval(this.#signs);
  }

  #statusAt(ending: Ending): FinishStatus | null {
    return this.isAttached && ending !== 'failed' ? null : OWN_STATUS[ending];
  }

  async #close(status: FinishStatus | null, timeoutMs: number): Promise<void> {
    this.#shut(status);
    await this.#sender.flush(timeoutMs);
    this.#keepRest();
  }

  /** The first status stands. */
  #shut(status: FinishStatus | null): void {
    if (!this.#isClosed && status !== null)
      this.#outbox.addLast({ kind: 'finish', ts: Date.now(), body: { status } });
    this.#isClosed = true;
  }

  #keepRest(): void {
    this.#sender.abandon();
    for (const batch of this.#outbox.takeAll()) {
      const place = this.sink.keep(batch);
      warnUndelivered(place, 'not all was taken in time');
    }
    this.sink.close();
    clearInterval(this.#signs);
    untrack(this);
    leave(this);
  }

  #toEpoch(epoch: number | undefined): { epoch?: number } {
    if (epoch === undefined || Number.isFinite(epoch)) return epoch === undefined ? {} : { epoch };
    this.#warn('epoch', `epoch ${textOf(epoch)} is not a finite number; it is left out`);
    return {};
  }

  #addRecord(record: SdkRecord): void {
    if (this.#refuseIfClosed()) return;
    this.#outbox.addRecord(record);
    this.#wake();
  }

  #refuseIfClosed(): boolean {
    if (this.#isClosed) this.#warn('closed', 'the run has ended; what is reported to it now is left out');
    return this.#isClosed;
  }

  #wake(): void {
    if (this.#outbox.dropped > 0)
      this.#warn('dropped', 'the queue is full: the oldest points that wait are dropped');
    this.#sender.wake();
  }

  #warn(key: string, message: string): void {
    warnOnce(`${key} ${this.id ?? this.sink.keptIn}`, message);
  }
}
