import { appendFileSync } from 'node:fs';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { residentMb } from '../support/processes.js';
import { openLab, type Lab } from './lab.js';

/** A row of the table in docs/security.md, and the test that holds it. */
export interface Row {
  /** Names the row: what is sent, and where to. */
  readonly input: string;
  readonly who: string;
  readonly limit: string;
  /** What everybody else notices. */
  readonly others: string;
  /** Sends it. Throws when the answer is wrong, or somebody else lost something. */
  readonly send: (lab: Lab) => Promise<void>;
  /** What /health may answer meanwhile; left out: 200 alone. */
  readonly health?: readonly string[];
  readonly timeoutMs?: number;
}

/** Of the server, whatever is sent: it answers with what it has, and lets the rest wait. */
const MAX_RESIDENT_MB = 1_500;
const CASE_TIMEOUT_MS = 120_000;

/** One server for all of them: what the one has left behind, the next one meets. */
export function describeRows(title: string, rows: readonly Row[]): void {
  describe(title, function () {
    this.timeout(CASE_TIMEOUT_MS);
    let lab: Lab;
    before(async () => (lab = await openLab()));
    after(() => lab.close());

    for (const row of rows) {
      it(row.input, async function () {
        if (row.timeoutMs !== undefined) this.timeout(row.timeoutMs);
        await hold(row, lab);
      });
    }
  });
}

/** A case is done once more when nothing but the time was wrong: the machine is others' too. */
export async function hold(row: Row, lab: Lab): Promise<void> {
  let found = await once(row, lab);
  if (found.longestWaitMs > lab.probe.budgetMs) found = await once(row, lab);
  record(row, found);
  expect(found.longestWaitMs, 'the longest wait of /health in ms').to.be.at.most(lab.probe.budgetMs);
}

async function once(row: Row, lab: Lab): Promise<{ longestWaitMs: number; tookMs: number; mb: number }> {
  const startedMs = performance.now();
  const { longestWaitMs, answers } = await lab.probe.beside(() => row.send(lab));
  const tookMs = performance.now() - startedMs;
  expect(Object.keys(answers), 'what /health answered').to.have.members(
    Object.keys(answers).filter((answer) => (row.health ?? ['200']).includes(answer)),
  );
  const mb = residentMb(lab.server.pid);
  expect(mb, 'resident memory of the server in MB').to.be.below(MAX_RESIDENT_MB);
  await until(async () => (await lab.sender.send({ path: '/api/v1/health' })).status === 200);
  return { longestWaitMs, tookMs, mb };
}

/** For write-table.ts, which makes the table of docs/security.md. */
function record({ input }: Row, found: object): void {
  const file = process.env['SVC_ABUSE_RECORD'];
  if (file) appendFileSync(file, `${JSON.stringify({ input, ...found })}\n`);
}
