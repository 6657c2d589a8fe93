import type { Run } from '@svc/contract';
import { expect } from 'chai';
import { toRunTable } from '../src/commands/runs.js';

const RUN = {
  ...{ id: 'run_1', name: 'mlp', status: 'RUNNING', step: 3, max_steps: 10, source: 'sdk', tags: [] },
  ...{ started_at: Date.now(), stale_since: null },
} as unknown as Run;

describe('svc runs', () => {
  const lineOf = (changes: Partial<Run>): string =>
    toRunTable([{ ...RUN, ...changes }], (style, text) => `<${style}>${text}</>`)[1] ?? '';

  it('shows that a run is stale', () => {
    expect(lineOf({})).to.contain('<cyan>RUNNING</>');
    expect(lineOf({ stale_since: 1 })).to.contain('<yellow>RUNNING, stale</>');
  });
});
