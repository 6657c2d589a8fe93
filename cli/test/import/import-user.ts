import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Checkpoint, EventRecord, ListedCheckpoint, Run, SeriesByName } from '@svc/contract';
import { checkpoints } from '@svc/plugin-checkpoints';
import { metrics } from '@svc/plugin-metrics';
import { expect } from 'chai';
import type { ImportReport, RunReport } from '../../src/import/report.js';
import { ServerUser } from '../support/server-user.js';
import { runHere } from '../support/svc.js';

/** A user of a server who imports directories below the home directory. */
export class ImportUser {
  private constructor(readonly user: ServerUser) {}

  static async start(): Promise<ImportUser> {
    return new ImportUser(await ServerUser.start([metrics(), checkpoints()]));
  }

  close(): Promise<void> {
    return this.user.close();
  }

  /** The path of a new directory with these files in it, by their paths. */
  directory(name: string, files: Readonly<Record<string, string | Buffer>> = {}): string {
    const directory = path.join(this.user.home, name);
    mkdirSync(directory, { recursive: true });
    for (const [file, content] of Object.entries(files)) {
      const place = path.join(directory, file);
      mkdirSync(path.dirname(place), { recursive: true });
      writeFileSync(place, content);
    }
    return directory;
  }

  /** What the command says of it, whatever its exit status. */
  async import(directory: string, ...args: string[]): Promise<ImportReport & { status: number }> {
    const { status, stdout, stderr } = await runHere(['import', directory, '--json', ...args], this.user.env);
    expect(stdout, stderr).to.not.equal('');
    return { ...(JSON.parse(stdout) as ImportReport), status };
  }

  /** The one run in it. */
  async importOne(directory: string, ...args: string[]): Promise<RunReport> {
    const { runs, status, left_out } = await this.import(directory, ...args);
    expect(runs, JSON.stringify(left_out)).to.have.length(1);
    expect([status, runs[0]?.error]).to.deep.equal([0, null]);
    return runs[0] as RunReport;
  }

  async run({ run_id }: Pick<RunReport, 'run_id'>): Promise<Run> {
    return (await this.user.rig.get(`/runs/${run_id}`)).body as Run;
  }

  /** `[step, value, ts]` of each point, by metric. */
  async points({ run_id }: Pick<RunReport, 'run_id'>): Promise<Record<string, [number, unknown, number][]>> {
    const { body } = await this.user.rig.get(`/runs/${run_id}/metrics?limit=10000`);
    const series = Object.entries((body as { series: SeriesByName }).series);
    return Object.fromEntries(
      series.map(([name, { steps, values, ts }]) => [
        name,
        steps.map((step, index) => [step, values[index], ts[index] as number] as [number, unknown, number]),
      ]),
    );
  }

  /** `[step, value]` of each point, by metric. */
  async values(run: Pick<RunReport, 'run_id'>): Promise<Record<string, [number, unknown][]>> {
    const points = Object.entries(await this.points(run));
    return Object.fromEntries(
      points.map(([name, all]) => [name, all.map(([step, value]) => [step, value] as [number, unknown])]),
    );
  }

  /** Oldest first. */
  async checkpoints({ run_id }: Pick<RunReport, 'run_id'>): Promise<Checkpoint[]> {
    const { items } = (await this.user.rig.get(`/runs/${run_id}/checkpoints`)).body as {
      items: ListedCheckpoint[];
    };
    return items.reverse();
  }

  /** Those of type CUSTOM, oldest first. */
  async events({ run_id }: Pick<RunReport, 'run_id'>): Promise<EventRecord[]> {
    const { items } = (await this.user.rig.get(`/events?run_id=${run_id}&type=CUSTOM`)).body as {
      items: EventRecord[];
    };
    return items.reverse();
  }
}

/** What the source says of the run beside. */
export function importedFrom({ environment }: Run): unknown {
  return (environment as Record<string, unknown>)['import'];
}
