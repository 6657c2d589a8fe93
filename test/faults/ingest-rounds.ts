import Database from 'better-sqlite3';
import path from 'node:path';
import { routes } from '@svc/contract';
import { createWorkplace, type Server } from '../support/workplace.js';
import { checkRun } from './ingest-check.js';
import { IngestClient, type RunLedger } from './ingest-clients.js';
import { createRandom, type Random } from './random.js';

const RUNS = 2;
const CLIENTS_PER_RUN = 2;
/** Then the clients go on to new runs, so that reading everything back stays quick. */
const ROUNDS_PER_RUNS = 10;
const LONGEST_ROUND_MS = 400;

export interface IngestResult {
  readonly breaches: readonly string[];
  readonly kills: number;
  /** Batches that were under way when the server was killed. */
  readonly unanswered: number;
  readonly points: number;
}

interface Crew {
  readonly ledger: RunLedger;
  readonly clients: readonly IngestClient[];
}

/**
 * The built server is killed at a random moment of each round, while clients write at full speed; the next round starts it again on what
 * it left, and checks that before anybody sends again. At last everything is sent until it is answered, and checked once more.
 */
export async function runIngestRounds(
  seed: number,
  rounds: number,
  say: (line: string) => void = () => undefined,
): Promise<IngestResult> {
  const random = createRandom(seed);
  const workplace = createWorkplace();
  const breaches: string[] = [];
  const done: Crew[] = [];
  let crews: Crew[] = [];
  let unanswered = 0;
  try {
    for (let round = 0; round < rounds; round += 1) {
      const server = await workplace.startServer();
      breaches.push(...(await checkAll(server, crews)));
      if (round % ROUNDS_PER_RUNS === 0) {
        await settleAll(server, crews);
        done.push(...crews);
        crews = await newCrews(server, random, breaches);
      }
      setTimeout(() => server.kill('SIGKILL'), random.integer(0, LONGEST_ROUND_MS));
      await Promise.all(
        crews.flatMap(({ clients }) => clients.map((client) => client.writeOn(server.client))),
      );
      await server.ended;
      const waiting = crews.flatMap(({ clients }) => clients.filter(({ undecided }) => undecided.length > 0));
      unanswered += waiting.length;
      say(
        `round ${round + 1}: ${countPoints(crews)} points acknowledged, ${waiting.length} batches unanswered`,
      );
    }
    const all = [...done, ...crews];
    breaches.push(...(await checkAtRest(await workplace.startServer(), all)));
    breaches.push(...(await checkDatabase(workplace.programs[0], workplace.dataDir)));
    return { breaches, kills: rounds, unanswered, points: countPoints(all) };
  } finally {
    await workplace.close();
  }
}

async function newCrews(server: Server, random: Random, breaches: string[]): Promise<Crew[]> {
  const crews: Crew[] = [];
  for (let index = 0; index < RUNS; index += 1) {
    const { id } = await server.client.call(routes.createRun, { body: {} });
    const ledger = { run_id: id, sent: new Set<number>(), acknowledged: new Set<number>(), nextSeq: 0 };
    const clients = Array.from({ length: CLIENTS_PER_RUN }, () => new IngestClient(ledger, random, breaches));
    crews.push({ ledger, clients });
  }
  return crews;
}

async function settleAll({ client }: Server, crews: readonly Crew[]): Promise<void> {
  for (const { clients } of crews) for (const each of clients) await each.settle(client);
}

async function checkAll({ client }: Server, crews: readonly Crew[]): Promise<string[]> {
  const breaches: string[] = [];
  for (const { ledger, clients } of crews)
    breaches.push(
      ...(await checkRun(
        client,
        ledger,
        clients.map(({ undecided }) => undecided),
      )),
    );
  return breaches;
}

/** Everything that was sent has been answered: now all of it must be there. */
async function checkAtRest(server: Server, crews: readonly Crew[]): Promise<string[]> {
  await settleAll(server, crews);
  const open = crews.filter(({ ledger }) => ledger.acknowledged.size !== ledger.sent.size);
  return [
    ...open.map(({ ledger }) => `${ledger.run_id}: not everything could be sent again`),
    ...(await checkAll(server, crews)),
  ];
}

async function checkDatabase(
  server: { kill(signal: 'SIGTERM'): void; readonly ended: Promise<unknown> } | undefined,
  dataDir: string,
): Promise<string[]> {
  server?.kill('SIGTERM');
  await server?.ended;
  const db = new Database(path.join(dataDir, 'svc.db'), { readonly: true });
  try {
    const found = [
      db.pragma('integrity_check', { simple: true }),
      ...(db.pragma('foreign_key_check') as unknown[]),
    ];
    return found.filter((word) => word !== 'ok').map((word) => `the database: ${JSON.stringify(word)}`);
  } finally {
    db.close();
  }
}

function countPoints(crews: readonly Crew[]): number {
  return crews.reduce((sum, { ledger }) => sum + ledger.acknowledged.size, 0);
}
