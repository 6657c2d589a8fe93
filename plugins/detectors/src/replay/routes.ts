import { routes as contract } from '@svc/contract';
import { fail, failValidation, ok, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { Runs } from '@svc/plugin-runs';
import { configure, type DetectorSettings } from '../engine/settings.js';
import { replayRun, type ReplaySource } from './replay.js';

/** One replay runs at a time: each may hold the points of a run in memory. */
export function addRoutes(
  routes: RouteCollector,
  ctx: PluginContext,
  { runs, settings, ...source }: Omit<ReplaySource, 'db'> & { runs: Runs; settings: DetectorSettings },
): void {
  let isRunning = false;
  routes.add(contract.replayDetectors, async ({ params, body, signal }) => {
    const refuse = (path: string, message: string) => failValidation({ path: `settings.${path}`, message });
    const given = Object.entries((body.settings ?? {}) as DetectorSettings);
    const merged = given.map(([name, options]) => [name, { ...settings[name], ...options }] as const);
    const all = { ...settings, ...Object.fromEntries(merged) };
    const detectors = configure(ctx.registered.detectors, all, refuse);
    const run = await runs.require(ctx.db, params.run_id);
    if (isRunning) fail('conflict', 'another replay is running; try again when it is over');
    isRunning = true;
    try {
      return ok(await replayRun({ ...source, db: ctx.db }, detectors, run, ctx.clock.now(), signal));
    } finally {
      isRunning = false;
    }
  });
}
