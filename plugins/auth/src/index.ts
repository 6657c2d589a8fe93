import { isTerminal } from '@svc/contract';
import { authenticate, definePlugin, type Caller, type PluginContext } from '@svc/kernel';
import { attemptPrepare, jobTransition, type JobTransition } from '@svc/plugin-jobs';
import { Authenticator } from './authenticator.js';
import { ensureFirstToken } from './first-token.js';
import { authMigrations } from './migrations.js';
import { addRoutes } from './routes.js';
import { authRef, type Auth, type IngestTarget } from './service.js';
import { deleteExpiredLinks } from './sign-in.js';
import { deleteExpiredIngest, endIngest, mintIngest } from './token-store.js';

export * from './service.js';
export { createToken, listTokens, revokeToken } from './token-store.js';
export { saveFirstToken } from './first-token.js';
export { renewTokens } from './renew-tokens.js';

const HOUR_MS = 60 * 60_000;

export const auth = definePlugin({
  name: 'auth',
  uses: ['jobs'],
  setup(ctx) {
    const authenticator = new Authenticator(ctx);
    let firstToken: string | null = null;
    ctx.migrations(authMigrations);
    ctx.owns(
      { table: 'tokens', kind: 'token', of: { job_id: 'job', run_id: 'run' } },
      { table: 'sign_in_links' },
    );
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, authenticator));
    ctx.tap(authenticate, (bearer) => authenticator.authenticate(bearer));
    ctx.onClose(() => authenticator.settle());
    ctx.tap(attemptPrepare, async (plan) => {
      const binding = { job_id: plan.job.id, attempt: plan.attempt };
      return { ...plan, env: { ...plan.env, SVC_TOKEN: await mintIngest(ctx.db, binding, ctx.clock.now()) } };
    });
    ctx.tap(jobTransition, endIngestOfAttempt);
    ctx.provide<Auth>(authRef, {
      mintIngest,
      endIngest,
      mayIngest,
      takeFirstToken() {
        const token = firstToken;
        firstToken = null;
        return token;
      },
    });
    ctx.ready(async () => {
      const first = await ensureFirstToken(ctx.db, ctx.config.dataDir, ctx.clock.now());
      firstToken = first?.token ?? null;
      if (first) ctx.log.info({ file: first.file }, 'made the first token, of write scope');
      sweepHourly(ctx);
    });
  },
});

/** An attempt ends with a terminal state, or with the retry that gives it up. */
async function endIngestOfAttempt({ before, after, tx, at }: JobTransition): Promise<void> {
  if (!before || (!isTerminal(after.status) && after.attempt === before.attempt)) return;
  await endIngest(tx, { job_id: before.id, attempt: before.attempt }, at);
}

function mayIngest({ scope, ingest }: Caller, run: IngestTarget): boolean {
  if (ingest === null) return scope === 'sdk' || scope === 'write';
  if ('run_id' in ingest) return ingest.run_id === run.id;
  return ingest.job_id === run.job_id && ingest.attempt === run.attempt;
}

function sweepHourly(ctx: PluginContext): void {
  const sweep = async () => {
    const now = ctx.clock.now();
    await deleteExpiredIngest(ctx.db, now);
    await deleteExpiredLinks(ctx.db, now);
  };
  const timer = ctx.clock.setInterval(() => {
    sweep().catch((err: unknown) => ctx.log.warn({ err }, 'cannot delete expired tokens'));
  }, HOUR_MS);
  ctx.onClose(() => timer.clear());
}
