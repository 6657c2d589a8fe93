// `npm run faults -- --seed N --rounds M`: M rounds, with the seeds N, N + 1, ...
import { cpSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../support/program.js';
import { runRound, type RoundResult } from './round.js';
import { describeFault } from './schedule.js';
import { createWorld, type World } from './world.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '20' },
    evidence: { type: 'string', default: path.join(ROOT, 'test-results', 'faults') },
  },
});
const python = process.env['SVC_TEST_PYTHON'] ?? 'python3';
const firstSeed = Number(values.seed);
const rounds = Number(values.rounds);

let world: World | null = null;
const broken: number[] = [];
const began = Date.now();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    say(`${signal}: ending what was started`);
    void (world?.close() ?? Promise.resolve()).finally(() => process.exit(130));
  });
}
try {
  for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1) {
    world ??= await createWorld();
    if (seed === firstSeed && !world.canFillDisks) say('disks are not filled: that takes the right to mount');
    const result = await runRound(world, seed, python);
    say(toLine(result));
    if (result.breaches.length === 0) continue;
    broken.push(seed);
    tell(result, world);
    // What it left must not spoil the next one.
    await world.close();
    world = null;
  }
} finally {
  await world?.close();
}
say(
  `${rounds} rounds from seed ${firstSeed} in ${Math.round((Date.now() - began) / 1000)} s: ` +
    (broken.length === 0 ? 'every promise held' : `${broken.length} broke one: seeds ${broken.join(', ')}`),
);
if (broken.length > 0) process.exitCode = 1;

function toLine({ seed, breaches, tookMs, counts, faults }: RoundResult): string {
  const { jobs, attempts, processes, lines, points, lost } = counts;
  const done = `${jobs} jobs, ${attempts} attempts, ${processes} processes, ${lines} lines, ${points} points, ${lost} lost`;
  const mark = breaches.length === 0 ? '✓' : '✗';
  return `${mark} seed ${seed} ${(tookMs / 1000).toFixed(1)} s: ${done}; ${faults.map(({ kind }) => kind).join(', ')}`;
}

/** Says what broke, and keeps all that can tell why. */
function tell({ seed, breaches, faults, evidence }: RoundResult, { workplace, agents }: World): void {
  for (const breach of breaches) say(`    ${breach}`);
  for (const fault of faults) say(`    fault: ${describeFault(fault)}`);
  const kept = path.join(values.evidence, `seed-${seed}`);
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(kept, { recursive: true });
  if (evidence !== null) cpSync(evidence, path.join(kept, 'evidence.json'));
  const isCopied = (file: string): boolean => !lstatSync(file).isSocket();
  for (const { stateDir } of agents)
    cpSync(stateDir, path.join(kept, path.basename(stateDir)), { recursive: true, filter: isCopied });
  for (const { pid, stdout, stderr } of workplace.programs)
    writeFileSync(path.join(kept, `${pid}.log`), `${stdout}\n${stderr}`);
  say(`    evidence: ${kept}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
