import type { Run } from '@svc/contract';
import type { Clock, SseStream, Timer } from '@svc/kernel';
import type { TimedPoint } from './point-writer.js';

/** At most 10 messages a second. */
const MESSAGE_INTERVAL_MS = 100;
/** A client that cannot keep up loses the oldest points; it can read the series to get them. */
const MAX_PENDING_POINTS = 10_000;
/** Limits the unsent data of a slow client: further points wait in memory that all clients share. */
const MAX_MESSAGE_BYTES = 128 * 1024;
/** Upper bounds: a point as JSON without its name, and one character of the name. */
const POINT_BYTES = 110;
const CHARACTER_BYTES = 3;

/** The open streams of points, by run. */
export class LivePoints {
  readonly #followers = new Map<string, Set<Follower>>();

  constructor(private readonly clock: Clock) {}

  /** Sends new points of the run from now on; `names` null takes all metrics. */
  follow(run: Run, names: ReadonlySet<string> | null, stream: SseStream): void {
    const followers = this.#followers.get(run.id) ?? new Set();
    this.#followers.set(run.id, followers);
    const follower = new Follower(this.clock, run, names, stream);
    followers.add(follower);
    stream.signal.addEventListener('abort', () => {
      follower.stop();
      followers.delete(follower);
      if (followers.size === 0) this.#followers.delete(run.id);
    });
  }

  publish(runId: string, points: readonly TimedPoint[]): void {
    for (const follower of this.#followers.get(runId) ?? []) follower.add(points);
  }

  /** To be called when the run has ended: sends what is pending, then `event: end`. */
  async end(runId: string): Promise<void> {
    await Promise.all([...(this.#followers.get(runId) ?? [])].map((follower) => follower.end()));
  }

  /** To be called when the job has a further attempt: the LOST runs of this one have ended. */
  async endAttempt(jobId: string, attempt: number): Promise<void> {
    const all = [...this.#followers.values()].flatMap((followers) => [...followers]);
    const over = all.filter(({ run }) => run.job_id === jobId && run.attempt === attempt);
    await Promise.all(over.map((follower) => follower.end()));
  }
}

/** One client: points are collected while the last message is unsent or younger than the interval. */
class Follower {
  #pending: TimedPoint[] = [];
  #sending: Promise<void> | null = null;
  #timer: Timer | null = null;
  #sentAt = -Infinity;

  constructor(
    private readonly clock: Clock,
    readonly run: Run,
    private readonly names: ReadonlySet<string> | null,
    private readonly stream: SseStream,
  ) {}

  add(points: readonly TimedPoint[]): void {
    for (const point of points) if (!this.names || this.names.has(point.name)) this.#pending.push(point);
    if (this.#pending.length > MAX_PENDING_POINTS) this.#pending = this.#pending.slice(-MAX_PENDING_POINTS);
    this.#schedule();
  }

  async end(): Promise<void> {
    this.stop();
    await this.#sending;
    while (this.#pending.length > 0 && !this.stream.signal.aborted) await this.#send();
    this.stream.end();
  }

  stop(): void {
    this.#timer?.clear();
    this.#timer = null;
  }

  #schedule(): void {
    if (this.#pending.length === 0 || this.#timer || this.#sending || this.stream.signal.aborted) return;
    const waitMs = Math.max(0, this.#sentAt + MESSAGE_INTERVAL_MS - this.clock.now());
    this.#timer = this.clock.setTimeout(() => {
      this.#timer = null;
      this.#sending = this.#send().finally(() => {
        this.#sending = null;
        this.#schedule();
      });
    }, waitMs);
  }

  async #send(): Promise<void> {
    const first = this.#pending.splice(0, countFitting(this.#pending));
    const points = first.map(({ seq, name, step, value, ts }) => ({ seq, name, step, value, ts }));
    if (points.length === 0) return;
    this.#sentAt = this.clock.now();
    await this.stream.write({ id: points.at(-1)?.seq ?? 0, data: { points } });
  }
}

/** How many of the first points fit in one message. */
function countFitting(points: readonly TimedPoint[]): number {
  let sizeBytes = 0;
  const over = points.findIndex(({ name }) => {
    sizeBytes += POINT_BYTES + CHARACTER_BYTES * name.length;
    return sizeBytes > MAX_MESSAGE_BYTES;
  });
  return over < 0 ? points.length : Math.max(1, over);
}
