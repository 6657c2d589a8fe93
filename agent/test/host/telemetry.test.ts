import type { AgentFrame, NodeMetricsFrame } from '@svc/contract';
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createAgentLog } from '../../src/core/log.js';
import { Telemetry } from '../../src/host/telemetry.js';
import { until } from '../../testing/index.js';
import { Bench } from '../support/bench.js';

describe('agent: telemetry', () => {
  let stateDir: string;
  let frames: NodeMetricsFrame[];
  let logged: string[];
  let isOnline: boolean;
  let telemetry: Telemetry;
  let opened: Telemetry[];
  beforeEach(() => {
    stateDir = mkdtempSync(path.join(os.tmpdir(), 'svc-telemetry-'));
    frames = [];
    logged = [];
    opened = [];
    isOnline = true;
    telemetry = open();
  });
  afterEach(async () => {
    for (const each of opened) await each.close();
    rmSync(stateDir, { recursive: true, force: true });
  });

  /** As after a start of the agent on the same state directory. */
  function open(spoolMaxBytes?: number): Telemetry {
    const next = new Telemetry({
      nodeId: 'node_1',
      stateDir,
      collectors: [],
      dirs: () => [],
      ...(spoolMaxBytes !== undefined && { spoolMaxBytes }),
      log: createAgentLog({ write: (line) => logged.push(line) }),
      send: (frame: AgentFrame) => void frames.push(frame as NodeMetricsFrame),
      isOnline: () => isOnline,
    });
    opened.push(next);
    return next;
  }
  async function measure(count: number): Promise<void> {
    for (let index = 0; index < count; index++) await telemetry.measure();
  }
  const spoolDir = () => path.join(stateDir, 'telemetry');
  const spooled = () => (existsSync(spoolDir()) ? readdirSync(spoolDir()) : []);
  const late = () => frames.filter((frame) => frame.late === true);
  const live = () => frames.filter((frame) => frame.late === undefined);
  const times = (from: readonly NodeMetricsFrame[]) => from.flatMap(({ ts }) => ts);
  /** Takes everything from the disk, as a server that stores it. */
  async function replayAll(): Promise<void> {
    for (let count = -1; count < late().length;) {
      count = late().length;
      await telemetry.replay();
      const last = late().at(-1);
      if (last) await telemetry.stored({ ts: last.ts.at(-1)!, late: true });
    }
  }

  it('sends what is not stored again on a new connection', async () => {
    await measure(3);
    await telemetry.upload();
    const { ts } = frames[0]!;
    expect(ts).to.have.length(3);
    expect([...ts].sort((a, b) => a - b)).to.deep.equal(ts);
    await telemetry.upload();
    expect(frames).to.have.length(1);
    await telemetry.stored({ ts: ts[0]! });
    telemetry.welcomed();
    await telemetry.upload();
    expect(frames[1]?.ts).to.deep.equal(ts.slice(1));
    expect(spooled()).to.deep.equal([]);
  });

  it('has what was measured without the server on the disk, survives the agent, and is late then', async () => {
    isOnline = false;
    await measure(350);
    await telemetry.upload();
    await measure(2);
    await telemetry.upload();
    // One more where the last samples alone have a figure, as `cpu.util`, which a sample in the same tick of the processor as the one before lacks.
    expect(spooled()).to.have.length.within(2, 3);
    // Not closed: the agent was killed.
    telemetry = open();
    isOnline = true;
    await measure(1);
    await telemetry.upload();
    await replayAll();
    expect(late()[0]!.ts, 'what fits into a frame').to.have.length(300);
    expect(times(late())).to.have.length(352);
    expect(times(live())).to.have.length(1);
    expect(times(late()), 'each once, with its own time').to.deep.equal(
      [...new Set(times(late()))].sort((a, b) => a - b),
    );
    expect(late()[0]!.values['ram.total_mb']).to.deep.equal(
      Array(300).fill(Math.round(os.totalmem() / 2 ** 20)),
    );
    expect(spooled()).to.deep.equal([]);
  });

  it('leaves what the server has not stored to the next agent when it is closed', async () => {
    await measure(3);
    await telemetry.upload();
    await telemetry.stored({ ts: frames[0]!.ts[0]! });
    await telemetry.close();
    telemetry = open();
    await replayAll();
    expect(times(late())).to.deep.equal(frames[0]!.ts.slice(1));
  });

  it('sends new samples at once while the backlog goes frame by frame', async () => {
    isOnline = false;
    await measure(301);
    await telemetry.upload();
    isOnline = true;
    await telemetry.replay();
    await telemetry.replay();
    expect(late(), 'one frame until it is confirmed').to.have.length(1);
    await measure(1);
    await telemetry.upload();
    expect(live()).to.have.length(1);
    telemetry.welcomed();
    await telemetry.replay();
    expect(late()[1], 'again on a new connection').to.deep.equal(late()[0]);
  });

  it('goes to the disk too when a server that is there stores nothing for long', async () => {
    for (let round = 0; round < 4; round++) {
      await measure(150);
      await telemetry.upload();
    }
    expect(times(live())).to.have.length(600);
    expect(spooled()).to.have.length(1);
    await telemetry.replay();
    expect(times(late())).to.deep.equal(times(live()).slice(0, 150));
  });

  it('gives the oldest up when its place on the disk is full, and says so once', async () => {
    isOnline = false;
    telemetry = open(64 * 1024);
    for (let round = 0; round < 6; round++) {
      await measure(300);
      await telemetry.upload();
    }
    const sizeBytes = spooled().reduce((sum, name) => sum + statSync(path.join(spoolDir(), name)).size, 0);
    expect(sizeBytes).to.be.within(32 * 1024, 64 * 1024);
    expect(logged.join()).to.match(/the spool of node metrics is full: its oldest are given up/);
    expect(logged).to.have.length(1);
    const newest = Date.now();
    isOnline = true;
    await replayAll();
    expect(newest - times(late()).at(-1)!, 'the newest are there').to.be.below(10_000);
  });

  it('does without the disk when that takes nothing: an hour stays in memory, and the disk is tried again', async () => {
    writeFileSync(spoolDir(), 'in the way');
    isOnline = false;
    for (let round = 0; round < 7; round++) {
      await measure(300);
      await telemetry.upload();
    }
    expect(logged.filter((line) => line.includes('cannot be spooled'))).to.have.length(1);
    isOnline = true;
    for (let round = 0; round < 7; round++) await telemetry.upload();
    expect(times(live())).to.have.length(1800);
    rmSync(spoolDir());
    isOnline = false;
    await telemetry.upload();
    expect(spooled()).to.have.length(6);
  });

  it('passes over what a loss of power has left of a file', async () => {
    isOnline = false;
    await measure(4);
    await telemetry.upload();
    const [name] = spooled();
    const file = path.join(spoolDir(), name!);
    const [head, first, second, third] = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, [head, first, '\0'.repeat(second!.length), third, '[1,2'].join('\n'));
    writeFileSync(path.join(spoolDir(), '0000000000.jsonl'), '');
    telemetry = open();
    isOnline = true;
    await replayAll();
    expect(times(late())).to.have.length(2);
    expect(spooled()).to.deep.equal([]);
  });

  it('never takes the number of a file that cannot be read', async () => {
    isOnline = false;
    await measure(2);
    await telemetry.upload();
    const [name] = spooled();
    rmSync(path.join(spoolDir(), name!));
    mkdirSync(path.join(spoolDir(), name!));
    isOnline = true;
    await replayAll();
    isOnline = false;
    await measure(2);
    await telemetry.upload();
    expect(spooled().filter((other) => other !== name)).to.have.length(1);
  });

  it('leaves nothing twice of what a full disk took a part of', async function () {
    const mountPoint = path.join(stateDir, 'telemetry');
    mkdirSync(mountPoint);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', mountPoint]).status !== 0)
      return this.skip();
    try {
      isOnline = false;
      for (let round = 0; round < 5; round++) {
        await measure(300);
        await telemetry.upload();
      }
      expect(logged.join()).to.include('ENOSPC');
      isOnline = true;
      for (let round = 0; round < 7; round++) await telemetry.upload();
      await replayAll();
      const all = times(frames);
      expect(all.length - new Set(all).size, 'sent as both').to.equal(0);
      expect(all).to.have.length(1500);
    } finally {
      spawnSync('umount', ['--lazy', mountPoint]);
    }
  });
});

describe('agent: telemetry of an agent that is away', () => {
  it('is on the disk, is taken up by the next agent, and is gone from there once the server has it', async function () {
    this.timeout(90_000);
    const bench = await Bench.create();
    const spooled = () => {
      const dir = path.join(bench.stateDir, 'telemetry');
      return existsSync(dir) ? readdirSync(dir) : [];
    };
    await bench.connect();
    await bench.goAway();
    await until(() => spooled().length > 0, 'samples on the disk');
    await bench.closeAgents();
    const left = spooled().length;
    const { server } = bench;
    server.silent = false;
    await bench.connect();
    for (let index = 0; index < left; index++) {
      const late = () => server.all('node_metrics').filter((frame) => frame.late === true)[index];
      const { ts } = await until(late, 'a late frame');
      server.send({ type: 'node_metrics_ack', ts: ts.at(-1) as number, late: true });
    }
    await until(() => spooled().length === 0, 'room');
    await bench.close();
  });
});
