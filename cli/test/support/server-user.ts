import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Plugin } from '@svc/kernel';
import { expect } from 'chai';
import { Rig } from '../../../plugins/runs/test/support/rig.js';
import { runHere } from './svc.js';

/** A server, and the command line of a user of it who may write, with a home directory of their own. */
export class ServerUser {
  readonly home = mkdtempSync(path.join(os.tmpdir(), 'svc-home-'));
  readonly env: NodeJS.ProcessEnv;

  private constructor(readonly rig: Rig) {
    this.env = { HOME: this.home, SVC_URL: rig.kernel.url, SVC_TOKEN: rig.tokens.write };
  }

  static async start(plugins: readonly Plugin[] = []): Promise<ServerUser> {
    return new ServerUser(await Rig.start({ plugins }));
  }

  /** What a command that must succeed writes to stdout. */
  async svc(...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await runHere(args, this.env);
    expect(status, stderr).to.equal(0);
    return stdout;
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.svc(...args, '--json')) as T;
  }

  async close(): Promise<void> {
    await this.rig.close();
    rmSync(this.home, { recursive: true });
  }
}
