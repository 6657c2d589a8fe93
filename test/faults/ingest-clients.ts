import { routes, type MetricPoint } from '@svc/contract';
import { ApiError, type Client } from '@svc/client';
import type { Random } from './random.js';

const METRICS = 7;
const MAX_BATCH = 300;

/** A batch as its client sends it, again and again until it is answered. */
interface Batch {
  readonly run_id: string;
  /** Never sent before by anybody. */
  readonly fresh: readonly number[];
  /** Acknowledged before; they are sent again with another value. */
  readonly again: readonly number[];
  sent: number;
}

/** What the clients of one run know: who sent what, and what the server has acknowledged. */
export interface RunLedger {
  readonly run_id: string;
  readonly sent: Set<number>;
  readonly acknowledged: Set<number>;
  nextSeq: number;
}

/** The point that everybody sends under this seq: with steps that go back, and values that JSON has no number for. */
export function pointOf(seq: number): MetricPoint {
  const late = seq % 13 === 0 ? 50 : 0;
  return {
    seq,
    name: `metric/${seq % METRICS}`,
    step: Math.floor(seq / METRICS) - late,
    value: valueOf(seq),
    ts: 1,
  };
}

function valueOf(seq: number): MetricPoint['value'] {
  if (seq % 97 === 0) return 'NaN';
  return seq % 89 === 0 ? 'Infinity' : seq / 7;
}

/**
 * Writes the points of one run, batch after batch. What was not answered is sent again, by the same client and before anything
 * else. Two clients of one run take turns with its seqs, so that each leaves gaps which the other fills.
 */
export class IngestClient {
  private unanswered: Batch | null = null;

  constructor(
    private readonly ledger: RunLedger,
    private readonly random: Random,
    private readonly breaches: string[],
  ) {}

  /** Seqs that may be stored or not: all of them or none. */
  get undecided(): readonly number[] {
    return this.unanswered?.fresh ?? [];
  }

  /** Until the server is gone. */
  async writeOn(client: Client): Promise<void> {
    while (await this.writeOne(client));
  }

  /** Sends what has not been answered yet; false when the server is gone. */
  async settle(client: Client): Promise<boolean> {
    return this.unanswered === null || this.writeOne(client);
  }

  private async writeOne(client: Client): Promise<boolean> {
    const batch = (this.unanswered ??= this.nextBatch());
    batch.sent += 1;
    try {
      const { accepted, duplicates } = await client.call(routes.writePoints, {
        params: { run_id: batch.run_id },
        body: { points: [...batch.fresh.map(pointOf), ...batch.again.map(withOtherValue)] },
      });
      this.take(batch, accepted, duplicates);
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status >= 400)
        this.breaches.push(`a batch was refused: ${error.message}`);
      return false;
    }
  }

  private take(batch: Batch, accepted: number, duplicates: number): void {
    this.unanswered = null;
    for (const seq of batch.fresh) this.ledger.acknowledged.add(seq);
    const isWhole = accepted === batch.fresh.length || (batch.sent > 1 && accepted === 0);
    if (isWhole && accepted + duplicates === batch.fresh.length + batch.again.length) return;
    const { length } = batch.fresh;
    this.breaches.push(
      `${length} new points and ${batch.again.length} old ones, sent ${batch.sent} times: ${accepted} accepted, ${duplicates} duplicates`,
    );
  }

  private nextBatch(): Batch {
    const count = this.random.chance(0.3) ? 1 : this.random.integer(2, MAX_BATCH);
    const fresh = Array.from({ length: count }, () => this.ledger.nextSeq++);
    for (const seq of fresh) this.ledger.sent.add(seq);
    const again = this.random.chance(0.2) ? [...this.ledger.acknowledged].slice(-5) : [];
    return { run_id: this.ledger.run_id, fresh, again, sent: 0 };
  }
}

function withOtherValue(seq: number): MetricPoint {
  return { ...pointOf(seq), value: -1 };
}
