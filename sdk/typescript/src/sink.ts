import { ApiError, endpoint, retryDelayMs, type Client } from '@svc/client';
import type { BodyOf, MetricPoint, routes } from '@svc/contract';
import { warnOnce } from './notices.js';
import type { OfflineFolder } from './offline-folder.js';
import type { Batch, SdkRecord } from './records.js';
import type { Spool } from './spool.js';

const WRITE_POINTS = endpoint<typeof routes.writePoints>('POST', '/runs/{run_id}/metrics:batch');
const UPDATE = endpoint<typeof routes.updateRun>('PATCH', '/runs/{run_id}');
const CREATE_EVENT = endpoint<typeof routes.createEvent>('POST', '/runs/{run_id}/events');
const CREATE_CHECKPOINT = endpoint<typeof routes.createCheckpoint>('POST', '/runs/{run_id}/checkpoints');
const DEFINE = endpoint<typeof routes.defineRunMetric>(
  'PUT',
  '/runs/{run_id}/metric-definitions/{name:path}',
);
const ALIVE = endpoint<typeof routes.keepRunAlive>('POST', '/runs/{run_id}/alive');
const FINISH = endpoint<typeof routes.finishRun>('POST', '/runs/{run_id}/finish');
const HEALTH = endpoint<typeof routes.getHealth>('GET', '/health');

const PROBE_TIMEOUT_MS = 2_000;
const SIGN_TIMEOUT_MS = 5_000;
/** A batch is all or nothing: one that is refused for its content is halved, this often at most, to find what is wrong. */
const MAX_SPLITS = 64;

/** Where batches go. */
export interface Sink {
  /** Where what is not delivered lies. */
  readonly keptIn: string;
  /** Resolves once the batch is dealt with. Rejects with an ApiError when it is to be sent again as it is. */
  send(batch: Batch): Promise<void>;
  /** Writes the batch to a disk instead, at once; answers where it lies. */
  keep(batch: Batch): string;
  /** Gives a sign of life. Resolves with false when none is wanted any more; never rejects. */
  sign(): Promise<boolean>;
  close(): void;
}

/** Of a run that is recorded to files alone. */
export function offlineSink(folder: OfflineFolder): Sink {
  return {
    keptIn: folder.path,
    send: (batch) => Promise.resolve(void folder.keep(batch)),
    keep: (batch) => folder.keep(batch),
    sign: () => Promise.resolve(false),
    close: () => undefined,
  };
}

/** Of a run of which nothing is sent or written. */
export const NO_SINK: Sink = {
  keptIn: '',
  send: () => Promise.resolve(),
  keep: () => '',
  sign: () => Promise.resolve(false),
  close: () => undefined,
};

/**
 * To the server. What it refuses for good goes to the offline folder. With a spool, what it does not take now goes there, and so does
 * all that follows, until the server answers a probe.
 */
export class ServerSink implements Sink {
  #isAway = false;
  #failures = 0;
  #probeAt = 0;

  constructor(
    private readonly client: Client,
    private readonly runId: string,
    private readonly folder: OfflineFolder,
    private readonly spool: Spool | null,
  ) {}

  get keptIn(): string {
    return this.spool?.dir ?? this.folder.path;
  }

  async send(batch: Batch): Promise<void> {
    if (this.#isAway && this.spool?.append(batch)) return this.#probeWhenDue();
    try {
      await (Array.isArray(batch) ? this.#sendPoints(batch) : this.#sendRecord(batch));
      this.#comeBack();
    } catch (error) {
      if (this.spool === null) throw error;
      this.#noteFailure(error as ApiError);
      if (!this.spool.append(batch)) throw error;
    }
  }

  keep(batch: Batch): string {
    return this.spool?.append(batch) ? this.spool.dir : this.folder.keep(batch);
  }

  async sign(): Promise<boolean> {
    try {
      const { status } = await this.client.call(ALIVE, {
        params: { run_id: this.runId },
        timeoutMs: SIGN_TIMEOUT_MS,
      });
      return status === 'RUNNING';
    } catch (error) {
      return !(error instanceof ApiError && error.isFinal);
    }
  }

  close(): void {
    this.spool?.endFile();
  }

  async #sendPoints(points: MetricPoint[]): Promise<void> {
    const waiting = [points];
    let splits = 0;
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
      const params = { run_id: this.runId };
      const refusal = await refusalOf(this.client.call(WRITE_POINTS, { params, body: { points: part } }));
      if (refusal === null) continue;
      if ([413, 422].includes(refusal.status) && part.length > 1 && splits++ < MAX_SPLITS) {
        const middle = part.length >> 1;
        waiting.push(part.slice(middle), part.slice(0, middle));
      } else this.#setAside(part, 'points', refusal);
    }
  }

  async #sendRecord(record: SdkRecord): Promise<void> {
    const refusal = await refusalOf(this.#request(record));
    if (refusal === null) return;
    if (record.kind === 'finish' && refusal.status === 409)
      warnOnce(`ended ${this.runId}`, `the run had already ended: ${refusal.message}`);
    else this.#setAside(record, record.kind, refusal);
  }

  #request(record: SdkRecord): Promise<unknown> {
    const params = { run_id: this.runId };
    switch (record.kind) {
      case 'update':
        return this.#update(record.body);
      case 'metric':
        return this.client.call(DEFINE, { params: { ...params, name: record.name }, body: record.body });
      case 'event':
        return this.client.call(CREATE_EVENT, {
          params,
          body: record.body,
          headers: { 'idempotency-key': record.key },
        });
      case 'checkpoint':
        return this.client.call(CREATE_CHECKPOINT, { params, body: record.body });
      case 'finish':
        return this.client.call(FINISH, { params, body: record.body });
    }
  }

  async #update(body: BodyOf<typeof routes.updateRun>): Promise<void> {
    const { kept = {} } = await this.client.call(UPDATE, { params: { run_id: this.runId }, body });
    const stands = Object.entries(kept).map(([field, value]) => `${field} "${value}"`);
    if (body.fill && stands.length > 0)
      warnOnce(`kept ${this.runId}`, `this run keeps its ${stands.join(', ')}, decided before init`);
  }

  /** What the agent may say for an attempt is not bound to the token of this process: it goes to the spool. */
  #setAside(batch: Batch, kind: string, refusal: ApiError): void {
    const isNotAllowed = refusal.status === 401 || refusal.status === 403;
    const place = isNotAllowed ? this.keep(batch) : this.folder.keep(batch);
    const message = `the server refused ${kind} (${refusal.message}); they are kept in ${place}`;
    warnOnce(`${this.runId} refused ${kind} ${refusal.status}`, message);
  }

  async #probeWhenDue(): Promise<void> {
    if (performance.now() < this.#probeAt) return;
    await this.client.call(HEALTH, { timeoutMs: PROBE_TIMEOUT_MS }).then(
      () => this.#comeBack(),
      (error: unknown) => this.#noteFailure(error as ApiError),
    );
  }

  #noteFailure({ message, retryAfterMs }: ApiError): void {
    const pauseMs = retryDelayMs(this.#failures);
    this.#isAway = true;
    this.#failures += 1;
    this.#probeAt = performance.now() + Math.max(pauseMs, retryAfterMs ?? 0);
    const where = `what is reported goes to ${this.keptIn}, from where the agent delivers it`;
    warnOnce(`spooling ${this.keptIn}`, `the server does not take it now (${message}); ${where}`);
  }

  #comeBack(): void {
    this.#failures = 0;
    if (!this.#isAway) return;
    this.#isAway = false;
    this.spool?.endFile();
  }
}

/** The refusal for good, or null when the request was answered well. Rejects where it is to be sent again. */
async function refusalOf(request: Promise<unknown>): Promise<ApiError | null> {
  try {
    await request;
    return null;
  } catch (error) {
    if (error instanceof ApiError && error.isFinal) return error;
    throw error;
  }
}
