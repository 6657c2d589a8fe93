// `npm test`: everything. `npm run test:unit`: the unit suites alone. The last line is the sum.
import { main } from './processes.mjs';
import { setUp } from './setup.mjs';
import { ENGINES, prepareEngines } from './test/engines.mjs';
import { summarize } from './test/summary.mjs';

const UNIT_ENGINES = ['python3'];
/** The quick part asks one database; what differs between the two is found by `npm test`. */
const UNIT_ENV = { SVC_TEST_DATABASES: 'sqlite' };

await main(async () => {
  const isUnitOnly = process.argv[2] === 'unit';
  await setUp();
  // Not before: they need what the set-up installs.
  const { runChecks, runCrossingSuites, runUnitSuites } = await import('./test/suites.mjs');
  const { env, missing } = await prepareEngines(isUnitOnly ? UNIT_ENGINES : ENGINES.map(({ name }) => name));
  const results = [];
  if (!isUnitOnly) results.push(...(await runChecks()));
  results.push(...(await runUnitSuites(isUnitOnly ? { ...env, ...UNIT_ENV } : env)));
  if (!isUnitOnly) results.push(...(await runCrossingSuites(env)));
  results.push(...missing.map(toMissing));
  summarize(results);
});

/** Where the engines are promised, a missing one is a failure; elsewhere its suites have counted themselves as skipped. */
function toMissing(engine) {
  const isPromised = process.env.CI === 'true';
  const notes = [`missing, and it cannot be installed here: suites that need ${engine} did not run`];
  return { name: engine, passed: 0, failed: isPromised ? 1 : 0, skipped: 0, notes };
}
