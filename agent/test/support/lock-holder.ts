/** Locks the state directory that it is given, says so, or why not, and holds it until it is killed. */
import { lockStateDir } from '../../src/host/state-dir-lock.js';

lockStateDir(process.argv[2] as string).then(
  () => process.stdout.write('locked\n'),
  (error: Error) => process.stdout.write(`refused: ${error.message}\n`),
);
