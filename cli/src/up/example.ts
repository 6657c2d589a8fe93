import path from 'node:path';
import { routes, type Job } from '@svc/contract';
import type { Client } from '@svc/client';
import { Failure } from '../failure.js';
import { INSTALLATION } from '../installation.js';
import { isOnPath } from '../program-on-path.js';

const NAME = 'train-digits';

/** Throws when there is nothing to run the example with. */
export function requirePython(): void {
  if (isOnPath('python3')) return;
  throw new Failure(
    'the example needs python3, which is not on the PATH; install it, or run svc up without --example',
  );
}

/** The bundled training, plain Python without a GPU: its newest job, or one submitted now where there is none yet. */
export async function requireExample(client: Client): Promise<Job> {
  const { items } = await client.call(routes.listJobs, { query: { name: NAME, limit: 1 } });
  return items[0] ?? submitExample(client);
}

function submitExample(client: Client): Promise<Job> {
  return client.call(routes.submitJob, {
    body: {
      name: NAME,
      command: ['python3', path.join(INSTALLATION, 'examples', 'train-digits', 'train.py')],
      resources: { cpu_only: true },
      project: 'examples',
    },
  });
}
