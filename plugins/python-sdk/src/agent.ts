import { attemptPrepare, defineAgentPlugin, toReason, type AgentPlugin } from '@svc/agent';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { installSdk, type SdkSources } from './agent/install-sdk.js';

/** Built, both lie beside this file, or beside the one that this was built into. */
const SOURCES: SdkSources = import.meta.url.endsWith('.ts')
  ? { entry: fromHere('../python'), sdk: fromHere('../../../sdk/python') }
  : { entry: fromHere('./python-sdk/entry'), sdk: fromHere('./python-sdk/sdk') };

/** `import svc` works in the jobs of these runners: their processes see the files of this host, or those that `reads` names. */
export default function pythonSdk(runners: readonly string[] = ['process', 'docker']): AgentPlugin {
  return defineAgentPlugin({
    name: 'python-sdk',
    setup(ctx) {
      const directory = path.join(ctx.stateDir, 'python-sdk');
      let installed: Promise<string> | null = null;
      const find = () =>
        (installed ??= installSdk(SOURCES, directory).catch((error: unknown) => {
          installed = null;
          throw error;
        }));
      ctx.tap(attemptPrepare, async ({ runner, env, job_id, attempt }) => {
        if (!runners.includes(runner)) return undefined;
        // A container does not have the variables of the agent.
        const ofHost = runner === 'docker' ? undefined : process.env['PYTHONPATH'];
        try {
          const entry = await find();
          const PYTHONPATH = appendTo(env['PYTHONPATH'] ?? ofHost, entry);
          return { env: { PYTHONPATH }, reads: [path.dirname(entry)] };
        } catch (error) {
          const about = { job_id, attempt, reason: toReason(error) };
          ctx.log.warn('the job starts without the Python SDK, which cannot be written', about);
          return undefined;
        }
      });
    },
  })();
}

function appendTo(folders: string | undefined, last: string): string {
  return folders ? `${folders}${path.delimiter}${last}` : last;
}

function fromHere(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
