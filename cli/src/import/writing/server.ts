import { ApiError, type Client } from '@svc/client';
import { maskText, routes, type MetricPoint, type Run } from '@svc/contract';
import { toSentence } from '../../output/api-error.js';
import type {
  CheckpointBody,
  EventBody,
  FoundRun,
  MetricBody,
  RunFacts,
  TrainingEnd,
} from '../reading/found-run.js';
import type { Skips } from '../reading/skips.js';
import { newTallies, type Destination, type RunWriter, type Tally } from './destination.js';
import { patiently } from './patiently.js';
import { toDocuments, toEndTags, toNewRun, type Placement } from './run-body.js';

const TIMEOUT_MS = 120_000;
/** A batch is all or nothing: one that is refused is halved, this often at most for a run, to find what is wrong. */
const MAX_SPLITS = 64;
/** Of one record; the next one may be taken. */
const REFUSED = ['validation_error', 'conflict', 'payload_too_large'];

/** Writes imported runs to the server, one request after the other, so that others are served in between. */
export class Server implements Destination {
  constructor(
    private readonly client: Client,
    private readonly placement: Placement,
    private readonly tell: (sentence: string) => void,
  ) {}

  async open(
    found: FoundRun,
    facts: RunFacts,
    firstTs: number | undefined,
    skips: Skips,
  ): Promise<RunWriter> {
    const send: Send = (work) => patiently(work, this.tell);
    const begun = facts.begun === undefined ? null : await this.#find(facts.begun, send);
    if (begun) return new ServerRun(this.client, send, found, begun, false, skips);
    const body = toNewRun(found, facts, this.placement, firstTs, skips);
    const answer = await send(() => this.client.open(routes.createRun, { body, signal: timeLimit() }));
    const { ingest_token: _token, ...run } = (await answer.json()) as Run & { ingest_token: string };
    return new ServerRun(this.client, send, found, run, answer.status === 201, skips);
  }

  /** A change of nothing answers with the run to a token that may not read, too. */
  async #find(run_id: string, send: Send): Promise<Run | null> {
    try {
      return await send(() =>
        this.client.call(routes.updateRun, { params: { run_id }, body: {}, timeoutMs: TIMEOUT_MS }),
      );
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
      this.tell(`the server has no run ${run_id}: what its training has kept becomes a new run`);
      return null;
    }
  }
}

type Send = <T>(work: () => Promise<T>) => Promise<T>;

const timeLimit = (): AbortSignal => AbortSignal.timeout(TIMEOUT_MS);

class ServerRun implements RunWriter {
  readonly tallies = newTallies();
  #splits = 0;

  constructor(
    private readonly client: Client,
    private readonly send: Send,
    private readonly found: FoundRun,
    private readonly run: Run,
    readonly isNew: boolean,
    private readonly skips: Skips,
  ) {}

  get id(): string {
    return this.run.id;
  }

  async points(points: readonly MetricPoint[]): Promise<void> {
    try {
      const input = { params: this.#params, body: { points: [...points] }, timeoutMs: TIMEOUT_MS };
      const { accepted, duplicates } = await this.send(() => this.client.call(routes.writePoints, input));
      this.tallies.points.added += accepted;
      this.tallies.points.known += duplicates;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'validation_error') throw error;
      await this.#halve(points, error);
    }
  }

  async #halve(points: readonly MetricPoint[], error: ApiError): Promise<void> {
    if (points.length === 1 || this.#splits === MAX_SPLITS) return this.#refused(points, error);
    this.#splits += 1;
    const middle = points.length >> 1;
    await this.points(points.slice(0, middle));
    await this.points(points.slice(middle));
  }

  #refused(points: readonly MetricPoint[], error: ApiError): void {
    for (const { name: metric, step } of points)
      this.skips.add(`a point that the server refuses: ${toSentence(error)}`, `step ${step}`, { metric });
  }

  async checkpoint(body: CheckpointBody): Promise<void> {
    const input = { params: this.#params, body };
    await this.#register(this.tallies.checkpoints, body.path, () =>
      this.client.open(routes.createCheckpoint, { ...input, signal: timeLimit() }),
    );
  }

  async event(key: string, body: EventBody): Promise<void> {
    const input = { params: this.#params, body, headers: { 'Idempotency-Key': key } };
    await this.#register(this.tallies.events, key, () =>
      this.client.open(routes.createEvent, { ...input, signal: timeLimit() }),
    );
  }

  async metric(name: string, body: MetricBody): Promise<void> {
    const input = { params: { ...this.#params, name }, body, timeoutMs: TIMEOUT_MS };
    await this.#unlessRefused(name, () => this.send(() => this.client.call(routes.defineRunMetric, input)));
  }

  async #register(tally: Tally, place: string, work: () => Promise<Response>): Promise<void> {
    await this.#unlessRefused(place, async () => {
      const answer = await this.send(work);
      await answer.body?.cancel();
      tally[answer.status === 201 ? 'added' : 'known'] += 1;
    });
  }

  async #unlessRefused(place: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ApiError) || !REFUSED.includes(error.code)) throw error;
      this.skips.add(`what the server refuses: ${toSentence(error)}`, place);
    }
  }

  async end(facts: RunFacts, lastTs: number | undefined): Promise<void> {
    if (facts.begun !== undefined && this.run.source !== 'import') return this.#endBegun(facts);
    await this.#update(facts);
    const finished_at = facts.finished_at ?? lastTs;
    await this.#finish({ status: 'IMPORTED', ...(finished_at !== undefined && { finished_at }) });
  }

  /** The training was cut off from the server: what it could not say any more is said, where nobody has said it. */
  async #endBegun({ ended: status, finished_at, ...facts }: RunFacts): Promise<void> {
    const isBare = Object.keys(this.run.config).length === 0;
    const { config, max_steps } = toDocuments(this.found, facts, this.skips);
    if (isBare && config && Object.keys(config).length > 0)
      await this.#patch({ config, ...(max_steps !== undefined && { max_steps }) });
    if (status) await this.#finish({ status, ...(finished_at !== undefined && { finished_at }) });
  }

  async #update(facts: RunFacts): Promise<void> {
    await this.#tagEnd(facts.ended);
    const documents = toDocuments(this.found, facts, this.skips);
    const shown = { config: this.run.config, environment: this.run.environment };
    const isSame =
      JSON.stringify(shown) ===
      JSON.stringify({ config: documents.config, environment: documents.environment });
    if (!isSame || (documents.max_steps ?? null) !== this.run.max_steps) await this.#patch(documents);
    if (facts.notes !== undefined && this.run.notes === '')
      await this.#change('notes', maskText(facts.notes));
  }

  /** Once, when the source tells the end for the first time or another one: a tag that somebody has removed since stays away. */
  async #tagEnd(ended: TrainingEnd | undefined): Promise<void> {
    const { import: origin } = this.run.environment as { import?: { ended?: TrainingEnd } };
    if (ended === origin?.ended) return;
    const others = this.run.tags.filter((tag) => !toEndTags(origin?.ended).includes(tag));
    const tags = [...new Set([...toEndTags(ended), ...others])];
    if (tags.length !== this.run.tags.length || tags.some((tag) => !this.run.tags.includes(tag)))
      await this.#change('tags', tags);
  }

  /** What needs a token of write scope: with another one the rest comes in. */
  async #change(field: 'notes' | 'tags', value: unknown): Promise<void> {
    try {
      await this.#patch({ [field]: value });
    } catch (error) {
      if (!(error instanceof ApiError) || !['forbidden', 'validation_error'].includes(error.code))
        throw error;
      this.skips.add(`the ${field}: ${toSentence(error)}`, field);
    }
  }

  async #patch(body: object): Promise<void> {
    await this.send(() =>
      this.client.call(routes.updateRun, { params: this.#params, body, timeoutMs: TIMEOUT_MS }),
    );
  }

  /** Somebody may have ended it in another way. */
  async #finish(body: { status: 'IMPORTED' | TrainingEnd; finished_at?: number }): Promise<void> {
    try {
      await this.send(() =>
        this.client.call(routes.finishRun, { params: this.#params, body, timeoutMs: TIMEOUT_MS }),
      );
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'conflict') throw error;
      this.skips.add(`the end ${body.status}: ${toSentence(error)}`, 'end');
    }
  }

  get #params() {
    return { run_id: this.run.id };
  }
}
