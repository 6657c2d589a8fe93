import type { AttemptKey, SlotHealth, SlotSpec } from '@svc/contract';
import type { TestHost } from '@svc/agent/testing';
import { isAlive, until } from '@svc/agent/testing';
import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { createHost } from '../../runner-process/test/support/host.js';
import config from '../../runner-process/test/support/agent-config.js';
import gpuNvidia, { type GpuNvidiaOptions } from '../src/agent.js';
import { StandIn, type SmiState } from '../testing/stand-in.js';

const FAST: GpuNvidiaOptions = {
  intervalS: 0.1,
  silentS: 1,
  proofS: 1.5,
  restartS: 0.2,
  kernelLog: '/nowhere',
};
const GPU = 'GPU-00000000-0000-4000-8000-00000000000';

/** A real agent with real jobs, and a program in place of nvidia-smi. */
describe('gpu-nvidia: an agent', function () {
  this.timeout(60_000);
  let host: TestHost;
  let smi: StandIn;
  let others: ChildProcess[];
  beforeEach(async () => {
    host = await createHost();
    others = [];
  });
  afterEach(async () => {
    for (const other of others) other.kill('SIGKILL');
    await host.close();
    await until(async () => (await alive()).length === 0, 'the end of nvidia-smi');
    smi.remove();
  });

  const start = async (state: SmiState, options: GpuNvidiaOptions = {}) => {
    smi ??= new StandIn(state);
    const nvidia = gpuNvidia({ ...FAST, nvidiaSmi: smi.program, ...options });
    const plugins = [...config.plugins.filter(({ name }) => name !== 'gpu-nvidia'), nvidia];
    return host.startAgent({ plugins, virtualGpus: 0 });
  };
  const alive = async () => {
    const each = await Promise.all(smi.starts.map(async ({ pid }) => ((await isAlive(pid)) ? [pid] : [])));
    return each.flat();
  };
  const startNew = (state: SmiState, options: GpuNvidiaOptions = {}) => {
    smi = new StandIn(state);
    return start(state, options);
  };
  /** What the server was told last. */
  const slots = (): readonly SlotSpec[] =>
    host.server.frames
      .flatMap((frame) => (frame.type === 'slots' || frame.type === 'hello' ? [frame.slots] : []))
      .at(-1) ?? [];
  const states = () =>
    slots()
      .map(({ health }) => health?.state ?? 'ok')
      .join();
  const becomes = (wanted: string) => until(() => states() === wanted, `slots that are ${wanted}`);
  const reasonOf = (index: number) => slots().find((slot) => slot.index === index)?.health?.reason;
  const other = (env: Record<string, string> = {}) => {
    const child = spawn('sleep', ['600'], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: 'ignore',
    });
    others.push(child);
    return child.pid as number;
  };
  const pidOf = async (key: AttemptKey) => (await host.server.running(key)).pid as number;
  /** Where the frames of that attempt's end and of the slots stand among all. */
  const placeOfEnd = (key: AttemptKey) =>
    host.server.frames.findIndex(
      (frame) => frame.type === 'attempt' && frame.state === 'ended' && frame.job_id === key.job_id,
    );
  const placeOfState = (state: SlotHealth['state']) =>
    host.server.frames.findIndex(
      (frame) => frame.type === 'slots' && frame.slots.some(({ health }) => health?.state === state),
    );

  it('offers 8 GPUs, with their figures, and versions among the facts of the host', async () => {
    await startNew({ gpus: 8 });
    const [hello] = host.server.all('hello');
    expect(hello?.slots).to.have.length(8);
    expect(hello?.slots[7]).to.deep.equal({
      index: 7,
      uuid: `${GPU}7`,
      model: 'NVIDIA A100-SXM4-80GB',
      memory_total_mb: 81_920,
      virtual: false,
    });
    expect(hello?.system).to.include({ nvidia_driver: '535.129.03', cuda: '12.2' });
    const { values } = await host.server.frame('node_metrics', (frame) => 'gpu.7.util' in frame.values);
    expect(values['gpu.7.power_w']?.at(-1)).to.equal(64.12);
    expect(smi.starts.map(({ args }) => args)).to.deep.equal(['-q -x --loop-ms=100']);
  });

  it('tells that GPUs cannot be seen when nvidia-smi hangs, starts no second one meanwhile, and goes on', async () => {
    await startNew({ gpus: 2 });
    smi.play({ hangs: true });
    await becomes('unhealthy,unhealthy');
    expect(reasonOf(1)).to.equal('cannot be seen: nvidia-smi has not answered for 1 s');
    const job = host.sh('exit 0');
    await host.server.ended(job);
    await until(() => smi.starts.length >= 3, 'a few starts');
    expect((await alive()).length).to.be.at.most(1);
    expect(states()).to.equal('unhealthy,unhealthy');
    smi.play({ gpus: 2 });
    await becomes('ok,ok');
  });

  it('keeps the GPUs that are there when another one disappears, and takes it back under its index', async () => {
    await startNew({ gpus: 3 });
    smi.play({ gpus: 3, gone: [1] });
    await becomes('ok,unhealthy,ok');
    expect(reasonOf(1)).to.equal('is gone: nvidia-smi does not name it any more (00000000:11:00.0)');
    smi.play({ gpus: 3 });
    await becomes('ok,ok,ok');
    expect(slots().map(({ uuid }) => uuid)).to.deep.equal([`${GPU}0`, `${GPU}1`, `${GPU}2`]);
  });

  it('names GPUs by UUID to jobs while one is gone, as CUDA then counts them otherwise, and by index else', async () => {
    await startNew({ gpus: 3 });
    const before = host.sh('echo "[$CUDA_VISIBLE_DEVICES]"', { gpu_indices: [1, 2] });
    await host.server.ended(before);
    expect(host.server.logs.lines(before)).to.deep.equal(['[1,2]']);
    smi.play({ gpus: 3, gone: [0] });
    await becomes('unhealthy,ok,ok');
    const after = host.sh('echo "[$CUDA_VISIBLE_DEVICES]"', { gpu_indices: [1, 2] });
    await host.server.ended(after);
    expect(host.server.logs.lines(after)).to.deep.equal([`[${GPU}1,${GPU}2]`]);
  });

  it('keeps the index of a GPU when it is started again while another one is gone', async () => {
    await startNew({ gpus: 3 });
    await host.closeAgent();
    smi.play({ gpus: 3, gone: [0] });
    await start({});
    expect(states()).to.equal('unhealthy,ok,ok');
    expect(slots().map(({ index, uuid }) => [index, uuid])).to.deep.equal([
      [0, `${GPU}0`],
      [1, `${GPU}1`],
      [2, `${GPU}2`],
    ]);
  });

  it('that is started while nvidia-smi hangs offers the GPUs of before, as unhealthy', async () => {
    await startNew({ gpus: 2 });
    await host.closeAgent();
    smi.play({ hangs: true });
    await start({});
    expect(states()).to.equal('unhealthy,unhealthy');
    smi.play({ gpus: 2 });
    await becomes('ok,ok');
  });

  it('offers GPUs that appear later', async () => {
    await startNew({ exit: { says: 'no-driver.txt', code: 9 } });
    expect(slots()).to.deep.equal([]);
    expect(host.logged.join('\n')).to.include("couldn't communicate with the NVIDIA driver");
    smi.play({ gpus: 1 });
    await becomes('ok');
    smi.play({ gpus: 2 });
    await becomes('ok,ok');
  });

  const failures: [says: string, code: number][] = [
    ['lost.txt', 15],
    ['no-driver.txt', 9],
    ['no-devices.txt', 6],
    ['mismatch.txt', 18],
  ];
  for (const [says, code] of failures)
    it(`says of its GPUs what nvidia-smi says when it ends: ${says}`, async () => {
      await startNew({ gpus: 1 });
      smi.play({ exit: { says, code } });
      await becomes('unhealthy');
      expect(reasonOf(0)).to.match(
        /^cannot be seen: nvidia-smi says "(Unable to determine|NVIDIA-SMI has failed|No devices|Failed to initialize)/,
      );
      smi.play({ gpus: 1 });
      await becomes('ok');
    });

  it('tells of a process that is of no job, with its user and without its arguments', async () => {
    await startNew({ gpus: 2, processes: [] });
    const pid = other();
    smi.play({
      gpus: 2,
      processes: [{ gpu: 1, pid, mb: 10_240, name: '/opt/bin/python train.py --token=secret' }],
    });
    await becomes('ok,foreign');
    expect(reasonOf(1)).to.match(
      new RegExp(`^is used by python \\(pid ${pid}, [^,]+, 10 GiB\\), which is not a job of svc$`),
    );
    const { processes } = await host.server.frame('node_metrics', (frame) => frame.processes.length > 0);
    expect(processes[0]).to.include({ gpu: 1, pid, name: 'python', mem_mb: 10_240, job_id: null });
    expect(processes[0]?.user).to.be.a('string');
    expect(JSON.stringify(host.server.frames)).not.to.include('token=');
    smi.play({ gpus: 2, processes: [] });
    await becomes('ok,ok');
  });

  it('lets jobs have GPUs that others use where that is wanted', async () => {
    await startNew({ gpus: 1, processes: [{ gpu: 0, pid: other(), mb: 10_240 }] }, { foreign: 'ignore' });
    await host.server.frame('node_metrics', (frame) => frame.processes.length > 0);
    expect(states()).to.equal('ok');
  });

  it('says nothing against a job that is on its own GPU, and reports its end at once when that is free', async () => {
    await startNew({ gpus: 1, processes: [] });
    const job = host.sh('sleep 600', { gpu_indices: [0] });
    const pid = await pidOf(job);
    smi.play({ gpus: 1, processes: [{ gpu: 0, pid, mb: 30_000 }] });
    const { processes } = await host.server.frame('node_metrics', (frame) => frame.processes.length > 0);
    expect(processes[0]?.job_id).to.equal(job.job_id);
    smi.play({ gpus: 1, processes: [] });
    host.server.stop(job, 100);
    await host.server.ended(job);
    expect(placeOfState('quarantined')).to.equal(-1);
    expect(placeOfState('foreign')).to.equal(-1);
    expect(states()).to.equal('ok');
  });

  it('quarantines a GPU whose memory stays in use, before it reports the end, until it is free', async () => {
    await startNew({ gpus: 2, processes: [] });
    const job = host.sh('exit 0', { gpu_indices: [1] });
    smi.play({ gpus: 2, processes: [], usedMb: { 1: 30_720 } });
    await host.server.ended(job);
    expect(placeOfState('quarantined')).to.be.within(0, placeOfEnd(job) - 1);
    await becomes('ok,quarantined');
    expect(reasonOf(1)).to.equal(
      `still has 30 GiB of its memory in use by no process that can be seen, since ${job.job_id} ended`,
    );
    smi.play({ gpus: 2, processes: [] });
    await becomes('ok,ok');
  });

  it('quarantines a GPU on which a process of the job lives on, also for the next agent', async () => {
    await startNew({ gpus: 1, processes: [] });
    const job = host.sh('exit 0', { gpu_indices: [0] });
    await host.server.ended(job);
    const pid = other({ SVC_JOB_ID: job.job_id, SVC_NODE_ID: host.nodeId ?? '' });
    smi.play({ gpus: 1, processes: [{ gpu: 0, pid, mb: 512 }] });
    await becomes('quarantined');
    await host.closeAgent();
    await start({});
    // As the agent found it: at its start it also ends what is left of jobs, though nvidia-smi goes on naming it here.
    const [found] = host.server.all('hello').at(-1)?.slots ?? [];
    expect(found?.health?.state).to.equal('quarantined');
    expect(found?.health?.reason).to.match(
      new RegExp(`^is still used by python3 \\(pid ${pid}, .*512 MiB\\) of ${job.job_id}`),
    );
    smi.play({ gpus: 1, processes: [] });
    await becomes('ok');
  });

  it('does not wait for the proof when nvidia-smi says nothing', async () => {
    await startNew({ gpus: 1 }, { proofS: 50, silentS: 0.5 });
    const job = host.sh('sleep 600', { gpu_indices: [0] });
    await host.server.running(job);
    smi.play({ hangs: true });
    await becomes('unhealthy');
    host.server.stop(job, 100);
    await host.server.ended(job);
    expect(states()).to.equal('unhealthy');
    smi.play({ gpus: 1 });
    await becomes('ok');
  });

  it('offers MIG devices as slots, with their memory, and names them to jobs by UUID', async () => {
    // Other answers come while the names are asked for.
    await startNew({ recording: '535-a100-mig.xml', processes: [], listMs: 500 });
    expect(slots().map(({ uuid, model, memory_total_mb }) => [uuid, model, memory_total_mb])).to.deep.equal([
      ['MIG-5ad2b8d5-1111-5222-9333-000000000001', 'NVIDIA A100-SXM4-80GB MIG 3g.40gb', 40_448],
      ['MIG-5ad2b8d5-1111-5222-9333-000000000005', 'NVIDIA A100-SXM4-80GB MIG 2g.20gb', 19_968],
      ['GPU-00000000-1111-4222-8333-000000000000', 'NVIDIA A100-SXM4-80GB', 81_920],
    ]);
    const job = host.sh('echo "[$CUDA_VISIBLE_DEVICES]"; sleep 600', { gpu_indices: [1, 2] });
    const pid = await pidOf(job);
    smi.play({ recording: '535-a100-mig.xml', processes: [{ gpu: 0, pid, mb: 9000, gi: '5' }] });
    const { processes, values } = await host.server.frame(
      'node_metrics',
      (frame) => frame.processes.length > 0,
    );
    expect(processes.map(({ gpu, job_id }) => [gpu, job_id])).to.deep.equal([[1, job.job_id]]);
    expect(values['gpu.1.mem_total_mb']?.at(-1)).to.equal(19_968);
    expect(values['gpu.1.temp_c']?.at(-1)).to.equal(30);
    expect(values).not.to.have.property('gpu.1.util');
    smi.play({ recording: '535-a100-mig.xml', processes: [] });
    host.server.stop(job, 100);
    await host.server.ended(job);
    expect(host.server.logs.lines(job)).to.deep.equal([
      '[MIG-5ad2b8d5-1111-5222-9333-000000000005,GPU-00000000-1111-4222-8333-000000000000]',
    ]);
    expect(smi.starts.map(({ args }) => args)).to.deep.equal(['-q -x --loop-ms=100', '-L']);
  });

  it('keeps its GPUs, as unhealthy, while nvidia-smi is away, as when the driver is replaced', async () => {
    await startNew({ gpus: 2 });
    smi.uninstall();
    smi.play({ exit: { says: 'no-driver.txt', code: 9 } });
    await until(() => reasonOf(1)?.includes('not there') === true, 'the reason');
    expect(reasonOf(1)).to.equal('cannot be seen: nvidia-smi is not there any more');
    await host.server.ended(host.sh('exit 0'));
    expect(states()).to.equal('unhealthy,unhealthy');
    expect(host.logged.join('\n')).to.include('nvidia-smi is not there any more');
    await host.closeAgent();
    await start({});
    expect(states()).to.equal('unhealthy,unhealthy');
    smi.play({ gpus: 2 });
    smi.install();
    await becomes('ok,ok');
  });

  it('finds GPUs whose driver is installed while it runs', async () => {
    smi = new StandIn({ gpus: 2 });
    smi.uninstall();
    await start({});
    expect(slots()).to.deep.equal([]);
    smi.install();
    await becomes('ok,ok');
  });

  it('keeps no program running where there is no nvidia-smi', async () => {
    smi = new StandIn({});
    await start({}, { nvidiaSmi: '/nowhere/nvidia-smi' });
    expect(slots()).to.deep.equal([]);
    const job = host.sh('echo "[$CUDA_VISIBLE_DEVICES]"');
    await host.server.ended(job);
    expect(host.server.logs.lines(job)).to.deep.equal(['[]']);
    expect(smi.starts).to.deep.equal([]);
  });
});
