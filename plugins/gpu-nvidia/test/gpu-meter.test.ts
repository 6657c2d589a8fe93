import { createAgentLog } from '@svc/agent';
import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { queryObjects } from 'node:v8';
import {
  NvidiaMeter,
  parseErrors,
  parseGpuLine,
  parseProcesses,
  parseThrottled,
} from '../src/agent/gpu-meter.js';

describe('gpu-nvidia: metrics of the GPUs', () => {
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

  it('have the memory errors and the throttling of those that tell', () => {
    expect(parseErrors('0, 0\n1, 3\n2, [N/A]\nField "x" is not a valid field to query.\n')).to.deep.equal({
      'gpu.0.ecc_uncorrected': 0,
      'gpu.1.ecc_uncorrected': 3,
    });
    expect(
      parseThrottled('0, Not Active, Not Active\n1, Active, Not Active\n2, [N/A], [N/A]\n'),
    ).to.deep.equal({ 'gpu.0.throttled': 0, 'gpu.1.throttled': 1 });
  });

  it('come from one program that goes on printing, and end with it', async () => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-smi-'));
    const program = path.join(dir, 'nvidia-smi');
    writeFileSync(program, '#!/bin/sh\necho "0, 50, 1, 2, 3, 4, 5, 6"\nexec sleep 60\n');
    chmodSync(program, 0o755);
    const meter = new NvidiaMeter(createAgentLog({ level: 'error' }), program);
    meter.start();
    await until(() => meter.measure()['gpu.0.util'] === 50, 'the figures');
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
