// The naive client, many times over, in a process of its own: every connection sends one point, waits for the answer, sends the next.
import { pointOf } from './points.js';
import { createRequestHead, RawConnection } from './raw-connection.js';

export interface SinglePointLoad {
  readonly url: string;
  readonly token: string;
  /** Each is written by so many connections. */
  readonly run_ids: readonly string[];
  readonly connectionsPerRun: number;
  readonly forMs: number;
}

process.on('message', (load: SinglePointLoad) => {
  void drive(load).then((latenciesMs) => process.send?.(latenciesMs, () => process.disconnect()));
});

async function drive({ url, token, run_ids, connectionsPerRun, forMs }: SinglePointLoad): Promise<number[]> {
  const latenciesMs: number[] = [];
  const endMs = performance.now() + forMs;
  const connections = run_ids.flatMap((run_id) => {
    let next = 0;
    const headOf = createRequestHead('POST', `/api/v1/runs/${run_id}/metrics:batch`, token);
    return Array.from({ length: connectionsPerRun }, async () => {
      const connection = await RawConnection.open(url);
      while (performance.now() < endMs) {
        const body = JSON.stringify({ points: [pointOf(next++)] });
        const sentMs = performance.now();
        const answer = await connection.send(headOf(body.length) + body);
        latenciesMs.push(performance.now() - sentMs);
        if (answer.status !== 200) throw new Error(`answer ${answer.status}: ${answer.body}`);
      }
      connection.close();
    });
  });
  await Promise.all(connections);
  return latenciesMs;
}
