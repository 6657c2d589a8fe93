import type { AgentFrame, NodeMetricsFrame } from '@svc/contract';
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { queryObjects } from 'node:v8';
import { NvidiaMeter, parseGpuLine, parseProcesses } from '../src/gpu-meter.js';
import { HostMeter, toCpu, toMemory, toNetwork } from '../src/host-metrics.js';
import { createAgentLog } from '../src/log.js';
import { Telemetry } from '../src/telemetry.js';
import { until } from '../testing/index.js';

describe('agent: metrics of the host', () => {
  it('are those of this host, by the names of the contract', async () => {
    const meter = new HostMeter(os.tmpdir());
    await meter.measure();
    const names = ['cpu.util', 'disk.free_gb', 'disk.total_gb', 'disk.used_gb'];
    const more = ['net.rx_bps', 'net.tx_bps', 'ram.total_mb', 'ram.used_mb'];
    const measured = await until(async () => {
      const now = await meter.measure();
      return 'cpu.util' in now ? now : undefined;
    }, 'a tick of the processor');
    expect(Object.keys(measured).sort()).to.deep.equal([...names, ...more]);
    expect(measured['cpu.util']).to.be.within(0, 100);
    expect(measured['ram.total_mb']).to.equal(Math.round(os.totalmem() / 2 ** 20));
    expect(measured['ram.used_mb']).to.be.within(1, os.totalmem() / 2 ** 20);
  });

  it('reads the counters of the kernel', () => {
    expect(toCpu('cpu  100 5 30 800 50 1 2 3 4 5\ncpu0 1 2 3 4\n')).to.deep.equal({
      totalTicks: 991,
      busyTicks: 141,
    });
    const dev =
      'Inter-|   Receive  |  Transmit\n face |bytes packets\n    lo: 99 1 0 0 0 0 0 0 99 1 0 0 0 0 0 0\n' +
      '  eth0: 1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0\n  ib0:5 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n';
    expect(toNetwork(dev)).to.deep.equal({ rxBytes: 1005, txBytes: 2007 });
    expect(toMemory('MemTotal:  4096 kB\nMemFree: 1 kB\nMemAvailable:  1024 kB\n')).to.deep.equal({
      'ram.used_mb': 3,
      'ram.total_mb': 4,
    });
    expect(toMemory('')).to.deep.equal({});
  });
});

describe('agent: metrics of the GPUs', () => {
  it('are read from the lines of nvidia-smi; what a device does not have is left out', () => {
    expect(parseGpuLine('1, 98, 70123, 81559, 63, 412.55, 1980, 2619')).to.deep.equal({
      index: '1',
      measured: {
        'gpu.1.util': 98,
        'gpu.1.mem_used_mb': 70123,
        'gpu.1.mem_total_mb': 81559,
        'gpu.1.temp_c': 63,
        'gpu.1.power_w': 412.55,
        'gpu.1.sm_clock_mhz': 1980,
        'gpu.1.mem_clock_mhz': 2619,
      },
    });
    const partial = parseGpuLine('0, [N/A], 10, 20, [Unknown Error], , 1, 2')?.measured;
    expect(Object.keys(partial ?? {})).to.deep.equal([
      'gpu.0.mem_used_mb',
      'gpu.0.mem_total_mb',
      'gpu.0.sm_clock_mhz',
      'gpu.0.mem_clock_mhz',
    ]);
    expect(parseGpuLine('Unable to determine the device handle')).to.equal(null);
  });

  it('name the processes with their GPU, memory and job', () => {
    const gpus = '0, GPU-aa\n1, GPU-bb\n';
    const processes =
      'GPU-bb, 4242, 512, /usr/bin/python3, with a comma\nGPU-zz, 1, 1, x\nGPU-aa, 7, [N/A], y\n';
    const toJob = (pid: number) => (pid === 4242 ? 'job_1' : null);
    expect(parseProcesses(gpus, processes, toJob)).to.deep.equal([
      { gpu: 1, pid: 4242, name: '/usr/bin/python3, with a comma', mem_mb: 512, job_id: 'job_1' },
      { gpu: 0, pid: 7, name: 'y', mem_mb: 0, job_id: null },
    ]);
  });

  it('come from one program that goes on printing, and end with it', async () => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-smi-'));
    const program = path.join(dir, 'nvidia-smi');
    writeFileSync(program, '#!/bin/sh\necho "0, 50, 1, 2, 3, 4, 5, 6"\nexec sleep 60\n');
    chmodSync(program, 0o755);
    const meter = new NvidiaMeter(createAgentLog({ level: 'error' }), program);
    meter.start();
    await until(() => meter.latest()['gpu.0.util'] === 50, 'the figures');
    meter.close();
    rmSync(dir, { recursive: true });
  });

  it('are tried again for as long as it takes, and nothing is kept of the tries', async () => {
    let tries = 0;
    const log = createAgentLog({ write: () => (tries += 1) });
    const Timer = setTimeout(() => {}).constructor;
    const timers = () => queryObjects(Timer, { format: 'count' });
    const meter = new NvidiaMeter(log, '/nowhere/nvidia-smi', 1);
    meter.start();
    await until(() => tries > 5, 'a few tries');
    const before = timers();
    await until(() => tries > 50, 'many tries');
    expect(timers() - before).to.be.below(20);
    meter.close();
  });
});

describe('agent: telemetry', () => {
  let frames: NodeMetricsFrame[];
  let isOnline: boolean;
  let telemetry: Telemetry;
  beforeEach(() => {
    frames = [];
    isOnline = true;
    telemetry = new Telemetry({
      stateDir: os.tmpdir(),
      gpus: null,
      send: (frame: AgentFrame) => void frames.push(frame as NodeMetricsFrame),
      isOnline: () => isOnline,
    });
  });
  afterEach(() => telemetry.close());

  it('keeps what is not stored, and sends it again on a new connection', async () => {
    isOnline = false;
    for (let count = 0; count < 3; count++) await telemetry.measure();
    telemetry.upload();
    expect(frames).to.deep.equal([]);
    isOnline = true;
    telemetry.upload();
    const { ts } = frames[0]!;
    expect(ts).to.have.length(3);
    expect([...ts].sort((a, b) => a - b)).to.deep.equal(ts);
    telemetry.upload();
    expect(frames).to.have.length(1);
    telemetry.stored(ts[0]!);
    telemetry.welcomed();
    telemetry.upload();
    expect(frames[1]?.ts).to.deep.equal(ts.slice(1));
  });

  it('keeps an hour at most, the newest', async () => {
    for (let count = 0; count < 1810; count++) await telemetry.measure();
    for (let count = 0; count < 7; count++) telemetry.upload();
    expect(frames.map(({ ts }) => ts.length)).to.deep.equal([300, 300, 300, 300, 300, 300]);
  });
});
