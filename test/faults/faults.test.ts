import { expect } from 'chai';
import { requireEngine } from '../support/engines.js';
import { runRound } from './round.js';
import { describeFault } from './schedule.js';
import { createWorld, type World } from './world.js';

const FIRST_SEED = 1;
const ROUNDS = 12;

describe('faults: what processes wrote themselves is what the record says', function () {
  this.timeout(180_000);
  let world: World | null = null;
  let python: string;

  before(function () {
    python = requireEngine(this, 'python');
  });
  after(() => world?.close());

  for (let seed = FIRST_SEED; seed < FIRST_SEED + ROUNDS; seed += 1) {
    it(`seed ${seed}`, async () => {
      world ??= await createWorld();
      const { breaches, faults } = await runRound(world, seed, python);
      if (breaches.length === 0) return;
      // What it left must not spoil the next one.
      await world.close();
      world = null;
      const replay = `npm run faults -- --seed ${seed} --rounds 1`;
      expect.fail([...breaches, ...faults.map(describeFault), replay].join('\n'));
    });
  }
});
