import { routes } from '@svc/contract';
import { expect } from 'chai';
import { head, withClients } from '../raw-client.js';
import type { Lab } from '../lab.js';
import type { Row } from '../row.js';
import { faultOf } from '../send.js';

const AT_ONCE = 8;
/** An answer beyond that would be built in memory again for each of its readers. */
const MOST_ANSWER_BYTES = 32 * 1024 * 1024;
const DATA_CHARS = 60 * 1024;
const ENTRIES = 300;
const SERIES_POINTS = 100_000;
const BATCH_POINTS = 10_000;

interface Made {
  readonly run_id: string;
}

/** What a row writes, and what each server was last given of it. */
class Making {
  readonly #made = new WeakMap<Lab, Promise<Made>>();

  constructor(private readonly make: (lab: Lab) => Promise<Made>) {}

  anew(lab: Lab): Promise<Made> {
    const making = this.make(lab);
    this.#made.set(lab, making);
    return making;
  }

  last(lab: Lab): Promise<Made> {
    return this.#made.get(lab) ?? this.anew(lab);
  }
}

const much = new Making(makeMuch);
const wide = new Making(makeWide);

async function makeMuch({ server: { client } }: Lab): Promise<Made> {
  const large = { text: 'x'.repeat(DATA_CHARS) };
  // Of short strings a list shows as many as 2 KiB hold, and none of a long one.
  const text = 'x'.repeat(DATA_CHARS / ENTRIES - 10);
  const manifold = Object.fromEntries(Array.from({ length: ENTRIES }, (_, at) => [`k${at}`, text]));
  const { id: run_id } = await client.call(routes.createRun, { body: { name: 'much' } });
  const params = { run_id };
  for (let at = 0; at < 1000; at += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, more) => {
        await client.call(routes.createEvent, { params, body: { title: `${at + more}`, data: large } });
        await client.call(routes.createRun, { body: { config: manifold, environment: manifold } });
        await client.call(routes.createCheckpoint, {
          params,
          body: { path: `/out/${at + more}`, metadata: large },
        });
      }),
    );
  }
  for (let from = 0; from < SERIES_POINTS; from += BATCH_POINTS) {
    const points = Array.from({ length: BATCH_POINTS }, (_, at) => ({
      seq: from + at,
      name: `m${at % 5}`,
      step: from + at,
      value: Math.sin(at),
    }));
    await client.call(routes.writePoints, { params, body: { points } });
  }
  return params;
}

function readRow(
  input: string,
  limit: string,
  path: (run_id: string) => string,
  { body, of = much }: { readonly body?: object; readonly of?: Making } = {},
): Row {
  return {
    input: `read: ${input}, ${AT_ONCE} at once`,
    who: 'read, write',
    limit,
    others: 'nothing',
    async send(lab) {
      const { run_id } = await of.last(lab);
      const sent = {
        method: body === undefined ? 'GET' : 'POST',
        path: `/api/v1${path(run_id)}`,
        token: lab.tokens.read,
        body: body && JSON.stringify(body).replaceAll('RUN', run_id),
      };
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => lab.sender.send(sent)));
      for (const answer of answers) {
        expect(faultOf(answer)).to.equal(null);
        expect(answer.status, answer.text.slice(0, 300)).to.equal(200);
        expect(answer.sizeBytes).to.be.at.most(MOST_ANSWER_BYTES);
      }
    },
  };
}

/** A point of each of 10 000 metrics, twice: new ones, then known ones. */
async function makeWide({ server: { client } }: Lab): Promise<Made> {
  const { id: run_id } = await client.call(routes.createRun, { body: { name: 'wide' } });
  for (const step of [0, 1]) {
    const points = Array.from({ length: BATCH_POINTS }, (_, at) => ({
      seq: step * BATCH_POINTS + at,
      name: `layer/${at}/gradient`,
      step,
      value: Math.sin(at),
    }));
    const written = await client.call(routes.writePoints, { params: { run_id }, body: { points } });
    expect(written).to.deep.equal({ accepted: BATCH_POINTS, duplicates: 0 });
  }
  return { run_id };
}

function wideRow(runs: number): Row {
  return {
    input: `write: 10 000 metrics in one batch, new and known, ${runs === 1 ? 'to a run' : `to ${runs} runs at once`}`,
    who: 'run ingest, sdk, write',
    limit: '10 000 points a batch, 10 000 metrics a run',
    others: 'nothing',
    send: async (lab) => void (await Promise.all(Array.from({ length: runs }, () => wide.anew(lab)))),
  };
}

export const READ_ROWS: readonly Row[] = [
  {
    input: 'write: 1 000 events and checkpoints of 60 KiB, 1 000 runs of 120 KiB, and 100 000 points',
    who: 'run ingest, sdk, write',
    limit: 'that of each route',
    others: 'nothing',
    timeoutMs: 240_000,
    send: async (lab) => void (await much.anew(lab)),
  },
  wideRow(1),
  wideRow(AT_ONCE),
  readRow('1 000 events of 60 KiB', 'the byte budget of a list', () => '/events?limit=1000'),
  readRow('1 000 runs of 120 KiB', '2 KiB of a config or an environment', () => '/runs?limit=1000'),
  readRow(
    '1 000 checkpoints of 60 KiB',
    'the byte budget of a list',
    (run) => `/runs/${run}/checkpoints?limit=1000`,
  ),
  readRow('100 000 points, thinned', '10 000 points a metric', (run) => `/runs/${run}/metrics?limit=10000`),
  readRow('100 000 points of a run named 100 times', '100 runs', () => '/runs/metrics:query', {
    body: { run_ids: Array(100).fill('RUN'), limit: 10_000 },
  }),
  readRow('the summary of a run', '10 000 metrics a run', (run) => `/runs/${run}/summary`, { of: wide }),
  readRow('an export as CSV', 'none: it is streamed', (run) => `/runs/${run}/metrics/export?format=csv`),
  readRow(
    'an export as Parquet',
    'none: it is streamed',
    (run) => `/runs/${run}/metrics/export?format=parquet`,
  ),
  {
    input: 'read: 20 exports that are not read',
    who: 'read, write',
    limit: 'what waits in one connection',
    others: 'nothing',
    send: async (lab) => {
      const { run_id } = await much.last(lab);
      await withClients(lab.server.url, async (clients) => {
        const path = `/api/v1/runs/${run_id}/metrics/export?format=jsonl`;
        for (const socket of await clients.open(20)) socket.pause().write(head('GET', path, lab.tokens.read));
        const params = { run_id };
        for (let more = 0; more < 20; more++)
          await lab.server.client.call(routes.createEvent, { params, body: { title: 'still there' } });
      });
    },
  },
];
