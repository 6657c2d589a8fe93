import { countInSpool, leaveInSpool } from '@svc/agent/spool-records';
import { SmallDisk } from '@svc/agent/testing';
import type { SpoolRecord } from '@svc/contract';
import { SPOOL_END } from '@svc/contract/protocol';
import { expect } from 'chai';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

describe('records that the agent leaves in the spool of an attempt', () => {
  let spool: string;
  beforeEach(() => (spool = mkdtempSync(path.join(tmpdir(), 'spool-records-'))));
  afterEach(() => rmSync(spool, { recursive: true }));

  const record = (step: number): SpoolRecord => {
    const points = [{ seq: step, name: 'loss', step, value: 1 }];
    return { kind: 'points', run_id: 'run_1', body: { points } };
  };
  const leave = (...steps: number[]) => leaveInSpool({ spool }, 'finder', steps.map(record));

  it('are files of lines that end, in the order in which they were left', async () => {
    await leave(1, 2);
    await Promise.all([3, 4, 5].map((step) => leave(step)));
    const files = readdirSync(spool).sort();
    expect(files).to.have.length(4);
    for (const name of files) expect(name).to.match(/^finder\.\d{17}\.jsonl$/);
    const texts = files.map((name) => readFileSync(path.join(spool, name), 'utf8'));
    expect(texts).to.deep.equal(
      [[1, 2], [3], [4], [5]].map((steps) =>
        [...steps.map((step) => JSON.stringify(record(step))), SPOOL_END, ''].join('\n'),
      ),
    );
  });

  it('are counted for each plugin', async () => {
    await leave(1);
    await leave(2);
    writeFileSync(path.join(spool, 'other.1.jsonl'), '');
    expect(await countInSpool({ spool }, 'finder')).to.equal(2);
    expect(await countInSpool({ spool }, 'other')).to.equal(1);
    expect(await countInSpool({ spool }, 'none')).to.equal(0);
  });

  it('are for the owner of the spool alone', async function () {
    if (process.getuid?.() === 0) chownSync(spool, 12_345, 12_345);
    await leave(1);
    const { mode, uid } = statSync(path.join(spool, readdirSync(spool)[0]!));
    expect(mode & 0o777).to.equal(0o600);
    expect(uid).to.equal(statSync(spool).uid);
  });

  it('are none after an error, as on a full disk, and there with room again', async function () {
    const disk = SmallDisk.tryMount(path.join(spool, 'disk'), 1);
    if (disk === null) return this.skip();
    try {
      disk.fill();
      const error = await leaveInSpool({ spool: disk.dir }, 'finder', [record(1)]).catch(
        (reason: unknown) => reason,
      );
      expect(error).to.have.property('code', 'ENOSPC');
      disk.empty();
      expect(await countInSpool({ spool: disk.dir }, 'finder')).to.equal(0);
      await leaveInSpool({ spool: disk.dir }, 'finder', [record(1)]);
      expect(await countInSpool({ spool: disk.dir }, 'finder')).to.equal(1);
    } finally {
      disk.unmount();
    }
  });

  it('are none when the spool is gone: the error is told', async () => {
    const error = await leaveInSpool({ spool: path.join(spool, 'gone') }, 'finder', [record(1)]).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.have.property('code', 'ENOENT');
  });
});
