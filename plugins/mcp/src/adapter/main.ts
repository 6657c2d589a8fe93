/** The process that the plugin starts: `main.js SETTINGS`, as JSON. It ends with the server that started it. */
import type { AdapterSettings } from './settings.js';
import { preferSmallMemory } from './small-memory.js';

const GRACE_MS = 5_000;

preferSmallMemory();
// Only now: what is loaded counts most.
const { startAdapter } = await import('./index.js');
const settings = JSON.parse(process.argv[2] ?? '') as AdapterSettings;
try {
  const adapter = await startAdapter(settings);
  const stop = (): void => {
    void adapter.close(GRACE_MS).then(() => process.exit());
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop);
  process.once('disconnect', stop);
  process.send?.({ url: adapter.url });
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
  process.disconnect?.();
}
