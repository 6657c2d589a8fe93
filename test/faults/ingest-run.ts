// `npm run faults:ingest -- --seed N --rounds M`: the server is killed M times while clients write points.
import { parseArgs } from 'node:util';
import { runIngestRounds } from './ingest-rounds.js';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, rounds: { type: 'string', default: '100' } },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const began = Date.now();
const { breaches, points, kills, unanswered } = await runIngestRounds(
  Number(values.seed),
  Number(values.rounds),
  say,
);
for (const breach of breaches) say(`✗ ${breach}`);
say(
  `${kills} kills in ${Math.round((Date.now() - began) / 1000)} s, ${points} points, ${unanswered} batches unanswered at a kill: ` +
    (breaches.length === 0 ? 'every promise held' : `${breaches.length} breaches`),
);
if (breaches.length > 0) process.exitCode = 1;
