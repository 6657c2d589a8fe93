import type { Plugin } from '@svc/kernel';
import type { TestDatabase } from '@svc/kernel/testing';
import { checkpoints } from '@svc/plugin-checkpoints';
import { logs } from '@svc/plugin-logs';
import { metrics } from '@svc/plugin-metrics';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Rig } from '../../../runs/test/support/rig.js';
import { retention } from '../../src/index.js';

/** The directory and the database of one server after the other. */
export class ServerData {
  readonly dir = mkdtempSync(join(tmpdir(), 'svc-retention-'));
  readonly #database: TestDatabase;

  private constructor(database: TestDatabase) {
    this.#database = database;
  }

  static async create(database: TestDatabase): Promise<ServerData> {
    const config = await database.create();
    return new ServerData({ ...database, create: () => Promise.resolve(config) });
  }

  start(...more: Plugin[]): Promise<Rig> {
    const plugins = [metrics(), checkpoints(), logs(), retention(), ...more];
    return Rig.start({ database: this.#database, dataDir: this.dir, plugins });
  }

  logsOf(jobId: string): string {
    return join(this.dir, 'logs', jobId);
  }

  remove(): void {
    rmSync(this.dir, { recursive: true });
  }
}
