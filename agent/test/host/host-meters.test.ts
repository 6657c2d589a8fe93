import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { OtherDisks, StateDisk, toDiskName } from '../../src/host/disks.js';
import { fileSystemsOf, findMount, parseMounts } from '../../src/host/file-systems.js';
import { LinuxMeter, toCpu, toMemory, toNetwork } from '../../src/host/linux-meter.js';
import {
  measureHost,
  toHostProcesses,
  toNetwork as toPortableNetwork,
} from '../../src/host/portable-meter.js';
import { findName, ProcessOwners } from '../../src/host/process-owner.js';
import { parseStat, ProcessMeter } from '../../src/host/process-meter.js';
import { until } from '../../testing/index.js';

describe('agent: metrics of the host', () => {
  it('are those of this host, by the names of the contract', async () => {
    const meter = new LinuxMeter();
    meter.measure();
    const measured = await until(() => {
      const now = meter.measure();
      return 'cpu.util' in now ? now : undefined;
    }, 'a tick of the processor');
    const names = ['cpu.util', 'net.rx_bps', 'net.tx_bps', 'ram.total_mb', 'ram.used_mb'];
    expect(Object.keys(measured).sort()).to.deep.equal(names);
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
    expect(toNetwork(dev, () => false)).to.deep.equal({ rxBytes: 1005, txBytes: 2007 });
    expect(toMemory('MemTotal:  4096 kB\nMemFree: 1 kB\nMemAvailable:  1024 kB\n')).to.deep.equal({
      'ram.used_mb': 3,
      'ram.total_mb': 4,
    });
    expect(toMemory('')).to.deep.equal({});
  });

  it('count what passes a bridge, a bond or a container once', () => {
    // Recorded: of a host with Docker and Podman; the bond is added.
    const dev = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 7553876152 1194541    0    0    0     0          0         0 7553876152 1194541    0    0    0     0       0          0
  ifb0:    9000       3    0    0    0     0          0         0     9000       3    0    0    0     0       0          0
  eth0: 4642785572   99020    0    0    0     0          0         0  5469939   62032    0    0    0     0       0          0
cni-podman0:    3160      45    0    0    0     0          0        45     2614      25    0    4    0     0       0          0
docker0:   42771     300    0    0    0     0          0         0    66464     292    0    6    0     0       0          0
veth0a1b2c3:   42771     300    0    0    0     0          0         0    66464     292    0    6    0     0       0          0
 bond0: 4642785572   99020    0    0    0     0          0         0  5469939   62032    0    0    0     0       0          0
`;
    const ofEth0 = { rxBytes: 4_642_785_572, txBytes: 5_469_939 };
    expect(toNetwork(dev, (name) => name === 'eth0')).to.deep.equal(ofEth0);
    expect(
      toNetwork(dev, () => false),
      'in a container',
    ).to.deep.equal(ofEth0);
    const withBridge = `${dev}ncbr15: 11392 50 0 0 0 0 0 0 13607 52 0 1 0 0 0 0\n`;
    expect(toNetwork(withBridge, (name) => name === 'eth0')).to.deep.equal(ofEth0);
  });

  it('come from a library on other systems, which works on this one too', async () => {
    const { measured, hostProcesses } = await measureHost();
    expect(measured['cpu.util']).to.be.within(0, 100);
    expect(measured['ram.total_mb']).to.equal(Math.round(os.totalmem() / 2 ** 20));
    expect(measured['ram.used_mb']).to.be.within(1, os.totalmem() / 2 ** 20);
    expect(hostProcesses).to.have.length.within(1, 10);
  });

  it('are added up over the interfaces, and name the largest processes once', () => {
    const bytes = (iface: string, rx: number | null) => ({ iface, rx_sec: rx, tx_sec: rx }) as never;
    expect(toPortableNetwork([bytes('lo0', 9), bytes('en0', 10), bytes('en1', 1.5)])).to.deep.equal({
      'net.rx_bps': 92,
      'net.tx_bps': 92,
    });
    expect(toPortableNetwork([bytes('en0', null)])).to.deep.equal({});
    const listed = Array.from({ length: 20 }, (_, pid) => ({
      pid,
      name: 'p',
      user: '',
      cpu: pid === 0 ? 99 : 1,
      memRss: pid * 2048,
    }));
    const [largest, ...others] = toHostProcesses(listed);
    expect(largest).to.deep.equal({
      pid: 19,
      name: 'p',
      user: null,
      cpu_percent: 1,
      mem_mb: 38,
      job_id: null,
    });
    expect(others.map(({ pid }) => pid)).to.include(0);
    expect(others).to.have.length.below(10);
  });
});

describe('agent: disks', () => {
  const MOUNTS = [
    '22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw',
    '23 22 0:21 / /proc rw - proc proc rw',
    '40 22 259:5 / /data rw - xfs /dev/nvme1n1 rw',
    '41 22 259:5 /sets /home/ada/sets rw - xfs /dev/nvme1n1 rw',
    '42 22 0:50 / /mnt/team\\040share rw - nfs4 filer:/team rw',
    '43 22 0:33 /@home /home rw - btrfs /dev/sda1 rw',
    '44 22 0:33 /@scratch /scratch rw - btrfs /dev/sda1 rw',
    '45 40 0:60 / /data rw - nfs4 filer:/other rw',
  ].join('\n');

  it('are told apart by the kernel, whatever the path: bind mounts, subvolumes, and one mounted over another', () => {
    const mounts = parseMounts(MOUNTS);
    const idOf = (dir: string) => findMount(mounts, dir)?.id;
    expect(idOf('/var/lib/svc')).to.equal('259:2');
    expect(idOf('/data/x')).to.equal('0:60');
    expect(idOf('/database')).to.equal('259:2');
    expect(findMount(mounts, '/home/ada/sets/imagenet')).to.deep.equal({
      id: '259:5',
      mount: '/data',
      at: '/home/ada/sets',
    });
    expect(idOf('/mnt/team share/runs')).to.equal('0:50');
    expect(idOf('/home/bob')).to.equal(idOf('/scratch/bob'));
    expect(findMount([], '/x')).to.equal(null);
  });

  it('have a name that fits into that of a metric, and no two of them the same', () => {
    expect(toDiskName('/')).to.equal('/');
    expect(toDiskName('/mnt/a_b-c.d')).to.equal('/mnt/a_b-c.d');
    expect(toDiskName('/mnt/team share,é')).to.equal('/mnt/team%20share%2C%C3%A9');
    const long = (end: string) => toDiskName(`/${'long/'.repeat(40)}${end}`);
    expect(`disk.${long('x')}.total_gb`).to.have.length.at.most(100);
    expect(toDiskName(`/a${'b'.repeat(99)}`)).not.to.equal(toDiskName(`/c${'b'.repeat(99)}`));
  });

  it('are each measured once: that of the state directory by the names of the contract, others by their mount', async () => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-disks-'));
    const link = path.join(dir, 'link');
    symlinkSync('/dev/shm', link);
    let dirs = ['/dev/shm', link, dir, path.join(dir, 'missing')];
    const [own, shm] = await fileSystemsOf([dir, '/dev/shm']);
    expect(own?.id).not.to.equal(shm?.id);
    const others = new OtherDisks(dir, () => dirs);
    const measured = await others.measure();
    const name = `disk.${toDiskName(shm?.mount ?? '')}`;
    expect(Object.keys(measured)).to.deep.equal([`${name}.used_gb`, `${name}.free_gb`, `${name}.total_gb`]);
    expect(measured[`${name}.free_gb`]).to.be.at.most(measured[`${name}.total_gb`] as number);
    dirs = [];
    expect(await others.measure()).to.deep.equal({});
    const state = await new StateDisk(dir).measure();
    expect(Object.keys(state)).to.deep.equal(['disk.used_gb', 'disk.free_gb', 'disk.total_gb']);
    rmSync(dir, { recursive: true });
  });
});

describe('agent: processes of the host', () => {
  const NODE = 'node_1';
  const ofJob = (job: string, node = NODE) => `SVC_NODE_ID=${node}\0SVC_JOB_ID=${job}\0`;
  const STAT =
    '4242 (python3 (x) y) S 1 4242 4242 0 -1 4194304 9 0 0 0 150 50 0 0 20 0 8 0 777 1000000 2560 18446744073709551615';
  let procDir: string;
  let children: ChildProcess[];
  beforeEach(() => {
    procDir = mkdtempSync(path.join(os.tmpdir(), 'svc-proc-'));
    children = [];
  });
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(procDir, { recursive: true });
  });

  function record(pid: number, stat: string, environ = 'PATH=/bin\0'): void {
    const dir = path.join(procDir, String(pid));
    mkdirSync(dir, { recursive: true });
    writeFileSync(path.join(dir, 'stat'), stat);
    writeFileSync(path.join(dir, 'environ'), environ);
  }
  const statOf = (pid: number, pages: number, ticks = 0) =>
    `${pid} (p) S 1 1 1 0 -1 0 0 0 0 0 ${ticks} 0 0 0 20 0 1 0 5 0 ${pages} 0`;

  it('are read from what the kernel says, whatever the name', () => {
    expect(parseStat(STAT)).to.deep.equal({
      pid: 4242,
      name: 'python3 (x) y',
      startedAt: 777,
      cpuTicks: 200,
      residentPages: 2560,
    });
    for (const broken of ['', '12', '12 (x', '12 (x) S 1 2']) expect(parseStat(broken)).to.equal(null);
    const passwd = 'root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/zsh\n\n';
    expect([0, 1000, 100].map((uid) => findName(passwd, uid))).to.deep.equal(['root', 'ada', null]);
  });

  it('are those of jobs and the largest of the host, so many at most', async () => {
    for (let pid = 1; pid <= 300; pid++)
      record(pid, statOf(pid, pid), pid <= 100 ? `A=1\0${ofJob(`job_${pid}`)}` : '');
    const meter = new ProcessMeter(NODE, procDir);
    expect(await meter.measure()).to.deep.equal({});
    const shown = meter.hostProcesses();
    expect(shown).to.have.length.at.most(64);
    const jobs = shown.flatMap(({ job_id }) => job_id ?? []);
    expect(jobs).to.have.length.above(40);
    expect(jobs[0]).to.equal('job_100');
    expect(shown.filter(({ job_id }) => job_id === null).map(({ pid }) => pid)).to.deep.equal([
      300, 299, 298, 297, 296,
    ]);
  });

  it('are gone when they have ended, and a job cannot make the answer large', async () => {
    record(7, statOf(7, 10), ofJob('x'.repeat(100_000)));
    record(8, statOf(8, 10), ofJob('job_8'));
    const meter = new ProcessMeter(NODE, procDir);
    await meter.measure();
    expect(meter.hostProcesses().map(({ job_id }) => job_id)).to.have.members([null, 'job_8']);
    rmSync(path.join(procDir, '8'), { recursive: true });
    await meter.measure();
    expect(meter.hostProcesses().map(({ pid }) => pid)).to.deep.equal([7]);
  });

  it('have the user whose rights they have, and the job of this node alone', () => {
    const owners = new ProcessOwners(NODE, procDir);
    const ownerOf = (pid: number, environ: string) => {
      record(pid, statOf(pid, 1), environ);
      writeFileSync(path.join(procDir, String(pid), 'status'), 'Name:\tp\nUid:\t0\t0\t0\t0\nGid:\t0\n');
      return owners.ownerOf(pid);
    };
    expect(ownerOf(1, ofJob('job_1'))).to.deep.equal({ user: 'root', job: 'job_1' });
    expect(ownerOf(2, ofJob('job_1', 'node_2')).job).to.equal(null);
    expect(ownerOf(3, 'SVC_JOB_ID=job_1\0').job).to.equal(null);
    expect(owners.ownerOf(4)).to.deep.equal({ user: null, job: undefined });
  });

  it('show users of whom /etc/passwd does not know by number', () => {
    record(5, statOf(5, 1));
    writeFileSync(path.join(procDir, '5', 'status'), 'Uid:\t3999999\t3999999\t3999999\t3999999\n');
    expect(new ProcessOwners(NODE, procDir).userOf(5)).to.equal('3999999');
  });

  it('of a real job show its CPU, memory, user and job', async function () {
    if (process.platform !== 'linux') this.skip();
    const busy = spawn(process.execPath, ['-e', 'const x = Buffer.alloc(2 ** 28, 1); for (;;) x[0] += 1'], {
      env: { SVC_NODE_ID: NODE, SVC_JOB_ID: 'job_busy' },
      stdio: 'ignore',
    });
    children.push(busy);
    const meter = new ProcessMeter(NODE);
    const shown = await until(async () => {
      await meter.measure();
      const found = meter.hostProcesses().find(({ pid }) => pid === busy.pid);
      return found && found.mem_mb > 256 && (found.cpu_percent ?? 0) > 1 ? found : undefined;
    }, 'its figures');
    expect(shown).to.include({ user: os.userInfo().username, job_id: 'job_busy' });
    expect(shown.cpu_percent).to.be.below(400);
  });
});
