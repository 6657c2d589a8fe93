import { routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { submit, untilJob } from '../../support/workplace.js';
import type { Lab } from '../lab.js';
import type { Row } from '../row.js';

const PATIENCE_MS = 100_000;
const WHO = 'the command of a job';
const agents = new WeakSet<Lab>();

async function runScript(lab: Lab, script: string): Promise<Job> {
  if (!agents.has(lab))
    await lab.workplace.startAgent(lab.server, ['--virtual-gpus', '0']).then(() => agents.add(lab));
  const { client } = lab.server;
  const { id } = await submit(client, { command: ['sh', '-c', script], resources: { cpu_only: true } });
  return untilJob(client, id, ({ status }) => status === 'SUCCEEDED' || status === 'FAILED', PATIENCE_MS);
}

/** The job's own end comes, and that of a job beside it; its last words are in the log. */
function script(input: string, limit: string, text: string): Row {
  return {
    input: `job: ${input}`,
    who: WHO,
    limit,
    others: 'nothing',
    timeoutMs: 240_000,
    async send(lab) {
      const { id, status } = await runScript(lab, `${text}; echo; echo the end`);
      expect(status).to.equal('SUCCEEDED');
      expect((await runScript(lab, 'true')).status).to.equal('SUCCEEDED');
      const input = { params: { job_id: id }, query: { tail: 10, search: 'the end' } };
      await until(async () => (await lab.server.client.call(routes.tailLogs, input)).lines.length > 0, {
        timeoutMs: PATIENCE_MS,
      });
    },
  };
}

const LONG_LINE = 'lines of 1 MiB';
const NO_RECORD = 'none: what is no record is refused';
const spool = (input: string, limit: string, line: string): Row =>
  script(`a spool file with ${input}`, limit, `${line} > "$SVC_SPOOL_DIR/poison.jsonl"`);

export const FILE_ROWS: readonly Row[] = [
  script('50 MB of log in one line', 'lines are cut at 16 KiB', 'head -c 50000000 /dev/zero | tr "\\0" x'),
  script('1 000 000 empty lines', 'none', 'yes "" | head -n 1000000'),
  script(
    '50 MB of carriage returns',
    'none: a carriage return begins the line anew',
    'head -c 50000000 /dev/zero | tr "\\0" "\\r"',
  ),
  script('20 MB of NUL', 'lines are cut at 16 KiB', 'head -c 20000000 /dev/zero'),
  script('20 MB of random bytes', 'lines are cut at 16 KiB; not reached', 'head -c 20000000 /dev/urandom'),
  spool('50 MB and no line break', LONG_LINE, 'head -c 50000000 /dev/zero | tr "\\0" x'),
  spool('a line of 10 MB, nested', LONG_LINE, '{ head -c 10000000 /dev/zero | tr "\\0" "["; echo; }'),
  spool('NUL bytes', NO_RECORD, '{ head -c 100000 /dev/zero; echo; }'),
  spool('100 000 lines that are no records', NO_RECORD, 'yes "{}" | head -n 100000'),
];
