import { SmallDisk } from '@svc/agent/testing';
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MetricNames } from '../src/agent/metric-names.js';

describe('the names of the metrics of an attempt', () => {
  let dir: string;
  let file: string;
  let errors: unknown[];
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'metric-names-'));
    file = path.join(dir, 'event-files.names');
    errors = [];
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const open = () => MetricNames.open(dir, (error) => errors.push(error));
  const lines = () => readFileSync(file, 'utf8').split('\n').slice(0, -1);

  it('do not join a line that was cut off', async () => {
    writeFileSync(file, 'loss\ngrößer\naccur');
    const names = await open();
    names.take('loss');
    names.take('new');
    await names.save();
    names.take('next');
    await names.save();
    expect(lines()).to.deep.equal(['loss', 'größer', 'new', 'next']);
  });

  it('are whole after a disk that was full took a part of them', async function () {
    const disk = SmallDisk.tryMount(dir, 1);
    if (disk === null) return this.skip();
    try {
      const names = await open();
      const all = ['first', ...Array.from({ length: 1000 }, (_, index) => `layer-${index}`)];
      names.take('first');
      await names.save();
      disk.fill();
      for (const name of all) names.take(name);
      for (let tries = 0; tries < 2; tries++) {
        const error: unknown = await names.save().catch((reason: unknown) => reason);
        expect(error).to.have.property('code', 'ENOSPC');
      }
      expect(readFileSync(file, 'utf8')).to.have.length.above('first\n'.length);
      disk.empty();
      await names.save();
      expect(lines()).to.deep.equal(all);
    } finally {
      disk.unmount();
    }
  });

  it('begin anew, and hold nobody up, when their file cannot be read', async () => {
    mkdirSync(file);
    const names = await open();
    expect(errors).to.have.length(1).and.have.nested.property('[0].code', 'EISDIR');
    expect(names.take('loss')).to.equal(true);
    await names.save();
  });
});
