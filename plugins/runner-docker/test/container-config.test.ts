import type { HostSlot } from '@svc/agent';
import { expect } from 'chai';
import { toContainerConfig, type ContainerParts } from '../src/agent/container-config.js';
import type { DockerPlan } from '../src/spec.js';
import { toPlan } from './support/host.js';

const GIB = 1024 ** 3;
const PLAN = toPlan(['python3', 'train.py'], { image: 'train:1', pull: null, shm_size_mb: null });
const PARTS: ContainerParts = {
  imageEnv: ['PATH=/bin'],
  user: { spec: null, unknownToImage: null, isConfined: false },
  network: 'bridge',
  mounts: [],
  serverUrl: 'http://172.17.0.1:50000',
  isRootless: false,
  hostMemoryBytes: 64 * GIB,
  deviceGroups: ['44', '109'],
  maxThreads: 65_536,
  logConfig: { Type: 'local', Config: {} },
};
const paths = {
  dir: '/s/a',
  work: '/s/a/work',
  spool: '/s/a/spool',
  stdout: '/s/a/stdout',
  stderr: '/s/a/stderr',
};
const CONTEXT = {
  job_id: 'job_1',
  attempt: 2,
  node: { id: 'node_1', name: 'gpu-1' },
  jobEnv: { SVC_URL: 'http://127.0.0.1:8600', CUDA_VISIBLE_DEVICES: '', SVC_TOKEN: 'secret-value' },
  workingDir: paths.work,
  paths,
  gpus: [] as HostSlot[],
  files: [] as string[],
  reads: [] as string[],
};
const gpu = (index: number, uuid: string, model = 'NVIDIA H100'): HostSlot => ({
  index,
  uuid,
  model,
  memory_total_mb: 81559,
  virtual: false,
});

function configOf(
  plan: Partial<DockerPlan> = {},
  ctx: Partial<typeof CONTEXT> = {},
  parts: Partial<ContainerParts> = {},
) {
  const config = toContainerConfig({ ...PLAN, ...plan }, { ...CONTEXT, ...ctx }, { ...PARTS, ...parts });
  const env = Object.fromEntries((config.Env ?? []).map((entry) => entry.split(/=([^]*)/)));
  return { config, env: env as Record<string, string>, host: config.HostConfig ?? {} };
}

describe('what the engine is asked to create', () => {
  it('is the command in the image, with the marks of the attempt and an init', () => {
    const { config, host } = configOf();
    expect(config).to.include({ Image: 'train:1', WorkingDir: '/s/a/work', Tty: false });
    expect(config.Cmd).to.deep.equal(['python3', 'train.py']);
    expect(config).to.not.have.any.keys('Entrypoint', 'User');
    expect(config.Labels).to.deep.equal({
      'svc.node_id': 'node_1',
      'svc.job_id': 'job_1',
      'svc.attempt': '2',
    });
    expect(host).to.include({ Init: true, NetworkMode: 'bridge', Privileged: false });
    expect(host.SecurityOpt).to.deep.equal(['no-new-privileges']);
    expect(host.LogConfig).to.equal(PARTS.logConfig);
  });

  it('has the values of variables in Env alone', () => {
    const { config } = configOf();
    expect(config.Env?.filter((entry) => entry.includes('secret-value'))).to.deep.equal([
      'SVC_TOKEN=secret-value',
    ]);
    expect(JSON.stringify({ ...config, Env: [] })).to.not.contain('secret-value');
  });

  it('tells the container the server as it reaches it', () => {
    expect(configOf().env['SVC_URL']).to.equal('http://172.17.0.1:50000');
  });

  it('mounts the files of the attempt at the paths that they have on the host', () => {
    const result = '/s/a/eval_result.json';
    const { host } = configOf({}, { files: [result], reads: ['/s/python-sdk'] });
    const places = host.Mounts?.map(({ Source, Target, ReadOnly }) => [Source, Target, ReadOnly]);
    expect(places).to.deep.equal([
      [paths.work, paths.work, false],
      [paths.spool, paths.spool, false],
      [result, result, false],
      ['/s/python-sdk', '/s/python-sdk', true],
    ]);
  });

  it('tells the SDK which places of the host its mounts are, and that its working directory is the same one', () => {
    const mounts = [{ source: '/data/ck', target: '/ckpts', read_only: false }];
    const { env } = configOf({ mounts }, { workingDir: '/project' });
    expect(JSON.parse(env['SVC_PATH_MAP'] ?? '')).to.deep.equal({
      '/ckpts': '/data/ck',
      '/project': '/project',
    });
    expect(configOf().env).to.not.have.property('SVC_PATH_MAP');
  });

  it('leaves out the empty directory of the attempt where the job has another', () => {
    const mount = { source: '/real/project', target: '/project', read_only: false };
    const { config, host } = configOf({}, { workingDir: '/project' }, { mounts: [mount] });
    expect(config.WorkingDir).to.equal('/project');
    expect(host.Mounts?.map(({ Target }) => Target)).to.deep.equal([paths.spool, '/project']);
  });

  it('starts in another directory of the image on request', () => {
    expect(configOf({ working_dir: '/workspace' }).config.WorkingDir).to.equal('/workspace');
  });

  it('keeps, replaces or takes away the entrypoint of the image', () => {
    expect(configOf({ entrypoint: ['/bin/sh', '-c'] }).config.Entrypoint).to.deep.equal(['/bin/sh', '-c']);
    expect(configOf({ entrypoint: [] }).config.Entrypoint).to.deep.equal(['']);
  });

  it('gives shared memory for DataLoader workers, and never more than half of the host', () => {
    expect(configOf().host.ShmSize).to.equal(8 * GIB);
    expect(configOf({}, {}, { hostMemoryBytes: 4 * GIB }).host.ShmSize).to.equal(2 * GIB);
    expect(configOf({ shm_size_mb: 100 }).host.ShmSize).to.equal(100 * 1024 ** 2);
  });

  it('limits memory without swap, and processors', () => {
    expect(configOf().host).to.not.have.any.keys('Memory', 'MemorySwap', 'NanoCpus');
    const limited = configOf({ memory_mb: 512, cpus: 1.5 }).host;
    expect(limited).to.include({ Memory: 512 * 1024 ** 2, MemorySwap: 512 * 1024 ** 2, NanoCpus: 1.5e9 });
  });

  it('limits processes and threads where the engine can', () => {
    expect(configOf().host.PidsLimit).to.equal(65_536);
    expect(configOf({}, {}, { maxThreads: null }).host).to.not.have.property('PidsLimit');
  });

  it('raises the limits that training on GPUs needs, where the engine may', () => {
    const gpus = [gpu(0, 'GPU-aaa')];
    const { Ulimits } = configOf({}, { gpus }).host;
    expect(Ulimits?.map(({ Name }) => Name)).to.deep.equal(['memlock', 'stack']);
    expect(configOf({}, { gpus }, { isRootless: true }).host).to.not.have.property('Ulimits');
    expect(configOf().host).to.not.have.property('Ulimits');
  });

  it('gives NVIDIA GPUs by their ids, counted from 0 inside', () => {
    const gpus = [gpu(3, 'GPU-aaa'), gpu(5, 'MIG-bbb')];
    const { host, env } = configOf({}, { gpus, jobEnv: { ...CONTEXT.jobEnv, CUDA_VISIBLE_DEVICES: '3,5' } });
    expect(host.DeviceRequests).to.deep.equal([
      { Driver: '', Count: 0, DeviceIDs: ['GPU-aaa', 'MIG-bbb'], Capabilities: [['gpu']], Options: {} },
    ]);
    expect(env).to.include({ CUDA_VISIBLE_DEVICES: '0,1', NVIDIA_VISIBLE_DEVICES: 'GPU-aaa,MIG-bbb' });
  });

  it('gives no GPU to a job without one, also where image or job name all', () => {
    const jobEnv = { ...CONTEXT.jobEnv, NVIDIA_VISIBLE_DEVICES: 'all' };
    const { host, env } = configOf({}, { jobEnv }, { imageEnv: ['NVIDIA_VISIBLE_DEVICES=all'] });
    expect(host).to.not.have.any.keys('DeviceRequests', 'Devices');
    expect(env).to.include({ CUDA_VISIBLE_DEVICES: '', NVIDIA_VISIBLE_DEVICES: 'void' });
  });

  it('gives AMD GPUs by their devices and groups, with the indices of the host', () => {
    const jobEnv = { ...CONTEXT.jobEnv, CUDA_VISIBLE_DEVICES: '1' };
    // Its model may be a number, as that of some GPUs in processors.
    const amd = { ...gpu(1, '0xdeadbeef', '0x1900'), devices: ['/dev/kfd', '/dev/dri'] };
    const { host, env } = configOf({}, { gpus: [amd, { ...amd, index: 2 }], jobEnv });
    expect(host.Devices?.map((device: { PathOnHost: string }) => device.PathOnHost)).to.deep.equal([
      '/dev/kfd',
      '/dev/dri',
    ]);
    expect(host.GroupAdd).to.deep.equal(['44', '109']);
    expect(host).to.not.have.property('DeviceRequests');
    expect(env['CUDA_VISIBLE_DEVICES']).to.equal('1');
  });

  it('gives no device for a slot that stands for none', () => {
    const virtual = { ...gpu(0, 'GPU-virtual'), virtual: true };
    expect(configOf({}, { gpus: [virtual] }).host).to.not.have.any.keys('DeviceRequests', 'Devices');
  });

  it('tells programs the user whom the image does not know', () => {
    const user = { spec: '1000:1000', unknownToImage: { name: 'anna' }, isConfined: true };
    const { config, env } = configOf({}, {}, { user });
    expect(config.User).to.equal('1000:1000');
    expect(env).to.include({ USER: 'anna', LOGNAME: 'anna', HOME: paths.work });
    expect(configOf({}, { workingDir: '/project' }, { user }).env['HOME']).to.equal('/tmp');
    const jobEnv = { ...CONTEXT.jobEnv, HOME: '/cache' };
    expect(configOf({}, { jobEnv }, { user }).env['HOME']).to.equal('/cache');
  });

  it('leaves the modules of the image to be found behind those of the job', () => {
    const imageEnv = ['PYTHONPATH=/app'];
    const jobEnv = { ...CONTEXT.jobEnv, PYTHONPATH: '/s/python-sdk/entry' };
    expect(configOf({}, { jobEnv }, { imageEnv }).env['PYTHONPATH']).to.equal('/s/python-sdk/entry:/app');
    expect(configOf({}, {}, { imageEnv }).env).to.not.have.property('PYTHONPATH');
  });
});
