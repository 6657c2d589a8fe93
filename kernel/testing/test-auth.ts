import { SCOPES, type IngestBinding, type Scope } from '@svc/contract';
import type { Caller } from '@svc/http';
import { authenticate } from '../src/hooks.js';
import { definePlugin, type Plugin } from '../src/plugin.js';

/** Knows the tokens `read`, `write`, `sdk`, `agent`, `ingest:<job_id>:<attempt>` and `ingest:<run_id>`. */
export const testAuth: () => Plugin = definePlugin({
  name: 'test-auth',
  setup(ctx) {
    ctx.tap(authenticate, (bearer) => {
      if (SCOPES.includes(bearer as Scope)) return toCaller(bearer, bearer as Scope, null);
      const [, id, attempt] = /^ingest:(\w+)(?::(\d+))?$/.exec(bearer) ?? [];
      if (id === undefined) return undefined;
      return toCaller(bearer, 'sdk', attempt ? { job_id: id, attempt: Number(attempt) } : { run_id: id });
    });
  },
});

function toCaller(name: string, scope: Scope, ingest: IngestBinding | null): Caller {
  return { token_id: `tok_${name}`, name, scope, ingest };
}
