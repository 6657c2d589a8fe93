import type { ExampleIds } from '../../../../test/support/example-lab.js';
import { PAGES, RUN_TABS } from '../../../src/pages/pages.js';

export interface ExamplePage {
  /** Of a file: letters, digits and hyphens. */
  readonly name: string;
  readonly address: string;
}

/** Each page of the console with something to show, and each tab of a run. Throws for a page that has no address here. */
export function toExamplePages(ids: ExampleIds): readonly ExamplePage[] {
  const addresses = addressesOf(ids);
  const known = new Set(PAGES.map(({ name }) => name));
  const unknown = [...known].filter((name) => !(name in addresses));
  if (unknown.length > 0)
    throw new Error(`add an address of ${unknown.join(' and ')} to ${import.meta.filename}`);
  const pages = Object.entries(addresses).flatMap(([page, views]) =>
    known.has(page) ? Object.entries(views).map(([view, address]) => toPage(page, view, address)) : [],
  );
  const tabs = RUN_TABS.map(({ name }) => toPage('run-tab', name, `/runs/${ids.exampleRun}?tab=${name}`));
  return [...pages, ...tabs];
}

function toPage(page: string, view: string, address: string): ExamplePage {
  return { name: view === '' ? page : `${page}-${view}`, address };
}

/** By page, then by what is looked at; the pages need not be there yet. */
function addressesOf(ids: ExampleIds): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const compared = ids.sweep.slice(0, 6).join(',');
  return {
    overview: { '': '/' },
    jobs: { '': '/jobs', failed: '/jobs?status=FAILED', none: '/jobs?status=LOST' },
    job: {
      running: `/jobs/${ids.runningJob}`,
      failed: `/jobs/${ids.failedJob}`,
      waiting: `/jobs/${ids.waitingJob}`,
      ended: `/jobs/${ids.exampleJob}`,
    },
    'new-job': { '': '/jobs/new' },
    runs: { '': '/runs', found: '/runs?q=batch%3D256', none: '/runs?q=nothing-has-this-name' },
    run: {
      '': `/runs/${ids.exampleRun}`,
      live: `/runs/${ids.liveRun}`,
      broken: `/runs/${ids.brokenRun}`,
      hostile: `/runs/${ids.hostileRun}`,
      missing: '/runs/run_00000000000000000000000000',
    },
    compare: { '': `/compare?runs=${compared}`, empty: '/compare' },
    projects: { '': '/projects' },
    project: { '': `/projects/${ids.project}` },
    experiment: { '': `/experiments/${ids.experiment}` },
    checkpoints: { '': '/checkpoints' },
    checkpoint: { '': `/checkpoints/${ids.checkpoint}` },
    evaluations: { '': '/evaluations' },
    nodes: { '': '/nodes' },
    node: { '': `/nodes/${ids.node}` },
    events: { '': '/events' },
    tokens: { '': '/tokens' },
    settings: { '': '/settings' },
  };
}
