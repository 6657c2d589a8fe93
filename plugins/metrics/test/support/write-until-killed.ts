import { openDatabase } from '@svc/kernel';
import { PointStore } from '../../src/point-store.js';
import { WriteQueue } from '../../src/write-queue.js';
import { RUN } from '../store-rig.js';

// Writes batches of 100 points to the database of the first argument, from the seq of the second on, four under way at a time, and
// prints the first seq of each once it is acknowledged. Runs until it is killed.

const [filename = '', start = '0'] = process.argv.slice(2);
const db = await openDatabase({ client: 'sqlite', filename });
const store = new PointStore({ db }, () => Promise.resolve());
const queue = new WriteQueue((group) => store.write(group));
let next = Number(start);

async function writeOn(): Promise<never> {
  for (;;) {
    const first = next;
    next += 100;
    const points = Array.from({ length: 100 }, (_, index) => {
      const seq = first + index;
      return { seq, name: `metric ${seq % 7}`, step: Math.floor(seq / 7), value: seq };
    });
    await queue.add({ run_id: RUN, points, at: 1 });
    process.stdout.write(`${first}\n`);
  }
}

await Promise.all([writeOn(), writeOn(), writeOn(), writeOn()]);
