// One client of the ingest benchmark, a process of its own: fills its run, one batch after the other is answered, and says how long it took.
import { pointsFrom } from './points.js';
import { createRequestHead, RawConnection } from './raw-connection.js';

export interface IngestShare {
  readonly url: string;
  readonly token: string;
  readonly run_id: string;
  readonly points: number;
  readonly names: readonly string[];
  readonly batch: number;
}

/** From the first request to the last answer, in ms since the epoch. */
export interface IngestSpan {
  readonly startedMs: number;
  readonly endedMs: number;
}

process.on('message', (share: IngestShare) => {
  void write(share).then((span) => process.send?.(span, () => process.disconnect()));
});

async function write({ url, token, run_id, points, names, batch }: IngestShare): Promise<IngestSpan> {
  const startedMs = Date.now();
  const connection = await RawConnection.open(url);
  const headOf = createRequestHead('POST', `/api/v1/runs/${run_id}/metrics:batch`, token);
  for (let seq = 0; seq < points; seq += batch) {
    const body = JSON.stringify({ points: pointsFrom(seq, Math.min(batch, points - seq), names) });
    const answer = await connection.send(headOf(body.length) + body);
    if (answer.status !== 200) throw new Error(`answer ${answer.status}: ${answer.body}`);
  }
  connection.close();
  return { startedMs, endedMs: Date.now() };
}
