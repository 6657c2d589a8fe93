import type { DetectorInput, Job, NodeRecord, Run, SlotHealth } from '@svc/contract';
import { expect } from 'chai';
import type { SubjectWatch } from '../src/engine/subject-watch.js';
import { watchOf } from './support/watch.js';

/** The beginning of a minute. */
const AT = 1_699_999_980_000;
const MINUTE_MS = 60_000;
const SAMPLE_MS = 2_000;

const jobOf = (given: Partial<Job>) =>
  ({ id: 'job', attempt: 1, status: 'RUNNING', gpu_indices: [0, 1], failure_reason: null, ...given }) as Job;

/** Feeds samples every 2 s for so many minutes, and returns the types that were told with the minute. */
function sample(
  watch: SubjectWatch,
  fromMinute: number,
  minutes: number,
  valuesAt: (minute: number) => Record<string, number>,
) {
  const told: [minute: number, type: string, title: string][] = [];
  for (let at = fromMinute * MINUTE_MS; at < (fromMinute + minutes) * MINUTE_MS; at += SAMPLE_MS) {
    const input: DetectorInput = {
      kind: 'node_metrics',
      at: AT + at,
      node_id: 'node',
      values: valuesAt(at / MINUTE_MS),
    };
    for (const { finding } of watch.feed(input))
      told.push([Math.floor(at / MINUTE_MS), finding.type, finding.title]);
  }
  return told;
}

describe('GPU_UNDERUTILIZED', () => {
  const busy = () => ({ 'gpu.0.util': 80, 'gpu.1.util': 90 });
  const start = (given: Partial<Job> = {}, settings = {}) => {
    const watch = watchOf('attempt', settings);
    watch.feed({ kind: 'job', at: AT, job: jobOf(given) });
    return watch;
  };

  it('fires for a GPU of the job that is below 10 % for 10 minutes, once', () => {
    const watch = start();
    const idle = () => ({ 'gpu.0.util': 80, 'gpu.1.util': 4 });
    expect(sample(watch, 0, 40, idle)).to.deep.equal([
      [11, 'GPU_UNDERUTILIZED', 'GPU 1 of the job: hardly used'],
    ]);
  });

  it('does not fire before, nor when it worked in between, nor for GPUs of others', () => {
    expect(sample(start(), 0, 10, () => ({ 'gpu.0.util': 0, 'gpu.1.util': 0 }))).to.deep.equal([]);
    const now_and_then = (minute: number) => ({ 'gpu.0.util': minute % 5 < 1 ? 90 : 2, 'gpu.1.util': 90 });
    expect(sample(start(), 0, 60, now_and_then)).to.deep.equal([]);
    expect(
      sample(start({ gpu_indices: [0] }), 0, 60, () => ({ 'gpu.0.util': 80, 'gpu.1.util': 0 })),
    ).to.deep.equal([]);
    expect(sample(start({ gpu_indices: [] }), 0, 60, () => ({ 'gpu.0.util': 0 }))).to.deep.equal([]);
  });

  it('does not fire for a job that has ended, nor across a time without samples', () => {
    const watch = start();
    sample(watch, 0, 8, () => ({ 'gpu.0.util': 0, 'gpu.1.util': 0 }));
    expect(sample(watch, 30, 8, () => ({ 'gpu.0.util': 0, 'gpu.1.util': 0 }))).to.deep.equal([]);
    watch.feed({ kind: 'job', at: AT + 39 * MINUTE_MS, job: jobOf({ status: 'SUCCEEDED' }) });
    expect(watch.feed({ kind: 'tick', at: AT + 60 * MINUTE_MS })).to.deep.equal([]);
  });

  it('fires by other thresholds', () => {
    const settings = { 'gpu-underutilized': { util_percent: 95, hold_s: 60 } };
    expect(sample(start({}, settings), 0, 5, busy).map(([minute]) => minute)).to.deep.equal([2]);
  });
});

describe('DISK_LOW', () => {
  const disk = (free: number, total = 1000) => ({ 'disk.free_gb': free, 'disk.total_gb': total });

  it('fires below 5 %, and below 10 GB, once', () => {
    expect(sample(watchOf('node'), 0, 30, () => disk(49)).map(([, , title]) => title)).to.deep.equal([
      '49.0 GB of the disk are free (4.9 % of 1000 GB)',
    ]);
    expect(sample(watchOf('node'), 0, 30, () => disk(9, 60)).map(([, type]) => type)).to.deep.equal([
      'DISK_LOW',
    ]);
  });

  it('does not fire with more, and not for every swing around the limit', () => {
    expect(sample(watchOf('node'), 0, 30, () => disk(60))).to.deep.equal([]);
    const swinging = (minute: number) => disk(50 + (Math.floor(minute) % 2 === 0 ? -1 : 1));
    expect(sample(watchOf('node'), 0, 60, swinging)).to.have.length(1);
  });

  it('fires when the disk is full in under an hour at this rate', () => {
    const told = sample(watchOf('node'), 0, 20, (minute) => disk(800 - 20 * minute));
    expect(told).to.deep.equal([[10, 'DISK_LOW', 'At this rate the disk is full in 30 minutes']]);
  });

  it('does not fire for one large file, nor for a slow rate', () => {
    expect(sample(watchOf('node'), 0, 40, (minute) => disk(minute < 15 ? 800 : 100))).to.deep.equal([]);
    expect(sample(watchOf('node'), 0, 60, (minute) => disk(800 - minute))).to.deep.equal([]);
  });
});

describe('GPU_UNHEALTHY of a slot', () => {
  const REASON = 'is still used by python (pid 4711, 10 GB)';
  const slot = (state: SlotHealth['state'], since: number | null = 1) => ({
    index: 3,
    health: { state, reason: state === 'ok' ? null : REASON, since: state === 'ok' ? null : since },
  });
  const nodeAt = (s: number, ...slots: object[]): DetectorInput => ({
    kind: 'node',
    at: AT + s * 1000,
    node: { name: 'gpu1', slots } as NodeRecord,
  });
  const tickAt = (s: number): DetectorInput => ({ kind: 'tick', at: AT + s * 1000 });
  const feed = (watch: SubjectWatch, ...inputs: DetectorInput[]) =>
    inputs.flatMap((input) =>
      watch.feed(input).map(({ finding }) => [(input.at - AT) / 1000, finding.severity, finding.title]),
    );

  it('is told when it lasts, once, and when it is over', () => {
    const watch = watchOf('node');
    const inputs = [
      nodeAt(0, slot('quarantined')),
      tickAt(29),
      tickAt(31),
      nodeAt(40, slot('quarantined')),
      tickAt(90),
    ];
    expect(feed(watch, ...inputs)).to.deep.equal([[31, 'warning', 'GPU 3 of gpu1 is quarantined']]);
    expect(feed(watch, nodeAt(100, slot('ok')), nodeAt(110, slot('ok')), tickAt(200))).to.deep.equal([
      [100, 'info', 'GPU 3 of gpu1 takes jobs again'],
    ]);
  });

  it('is over only when the GPU takes jobs, not when a process that is not ours is found on it', () => {
    const watch = watchOf('node');
    feed(watch, nodeAt(0, slot('quarantined')), tickAt(31));
    expect(
      feed(watch, nodeAt(40, slot('foreign', 2)), tickAt(90), nodeAt(95, slot('foreign', 2))),
    ).to.deep.equal([]);
    expect(feed(watch, nodeAt(100, slot('ok')))).to.deep.equal([
      [100, 'info', 'GPU 3 of gpu1 takes jobs again'],
    ]);
  });

  it('is not told of a GPU that has left its node', () => {
    const watch = watchOf('node');
    feed(watch, nodeAt(0, slot('unhealthy')), tickAt(31));
    expect(feed(watch, nodeAt(40), tickAt(90))).to.deep.equal([]);
  });

  it('is not told when it is soon over, nor of a foreign process', () => {
    const inputs = [
      nodeAt(0, slot('quarantined')),
      nodeAt(20, slot('ok')),
      tickAt(60),
      nodeAt(61, slot('foreign')),
      tickAt(300),
    ];
    expect(feed(watchOf('node'), ...inputs)).to.deep.equal([]);
  });

  it('is told again the next time, and often at most once in 6 hours', () => {
    const watch = watchOf('node');
    const told = Array.from({ length: 10 }, (_, time) =>
      feed(
        watch,
        nodeAt(time * 100, slot('unhealthy', time)),
        tickAt(time * 100 + 31),
        nodeAt(time * 100 + 50, slot('ok')),
      ),
    );
    expect(told.map((each) => each.map(([, severity]) => severity).join())).to.deep.equal([
      ...Array<string>(4).fill('critical,info'),
      ...Array<string>(6).fill(''),
    ]);
  });

  it('is told in place of the silence of the GPU', () => {
    const watch = watchOf('node');
    sample(watch, 0, 1, () => ({ 'gpu.3.util': 50 }));
    expect(feed(watch, nodeAt(60, slot('unhealthy')))).to.deep.equal([]);
    expect(sample(watch, 1, 20, () => ({ 'cpu.util': 1 }))).to.deep.equal([]);
    expect(feed(watch, tickAt(1300))).to.deep.equal([[1300, 'critical', 'GPU 3 of gpu1 is unhealthy']]);
  });
});

describe('DISK_LOW of several disks', () => {
  const disks = (free: Record<string, number>) =>
    Object.fromEntries(
      Object.entries(free).flatMap(([mount, gb]) => [
        [`disk.${mount}free_gb`, gb],
        [`disk.${mount}total_gb`, 1000],
      ]),
    );
  const titles = (
    valuesAt: (minute: number) => Record<string, number>,
    minutes: number,
    watch = watchOf('node'),
  ) => sample(watch, 0, minutes, valuesAt).map(([minute, , title]) => [minute, title]);

  it('fires for each of them, with its name, and for no other', () => {
    const low = () => disks({ '': 40, '/data.': 30, '/mnt/team%20share.': 20, '/scratch.': 900 });
    expect(titles(low, 30)).to.deep.equal([
      [0, '40.0 GB of the disk are free (4.0 % of 1000 GB)'],
      [0, '30.0 GB of the disk /data are free (3.0 % of 1000 GB)'],
      [0, '20.0 GB of the disk /mnt/team share are free (2.0 % of 1000 GB)'],
    ]);
    const filling = (minute: number) => disks({ '': 900, '/data.': 800 - 20 * minute });
    expect(titles(filling, 20)).to.deep.equal([[10, 'At this rate the disk /data is full in 30 minutes']]);
  });

  it('knows a disk by its name, also one that is called as a figure', () => {
    expect(titles(() => disks({ '/free_gb.': 1 }), 2)).to.deep.equal([
      [0, '1.0 GB of the disk /free_gb are free (0.1 % of 1000 GB)'],
    ]);
  });

  it('says no rate across a time in which a disk was not measured', () => {
    const comesAndGoes = (minute: number) =>
      disks(minute < 8 ? { '/data.': 900 } : minute < 20 ? { '': 900 } : { '': 900, '/data.': 300 });
    expect(titles(comesAndGoes, 40)).to.deep.equal([]);
  });

  it('takes a small disk for low by half of its size', () => {
    const small = (free: number) => () => ({ 'disk./dev/shm.free_gb': free, 'disk./dev/shm.total_gb': 8 });
    expect(titles(small(4.1), 20)).to.deep.equal([]);
    expect(titles(small(3.9), 20)).to.have.length(1);
  });

  it('is bounded, however many there are', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, each) => [`/d${each}.`, 1]));
    expect(titles(() => disks(many), 1)).to.have.length(32);
  });
});

describe('GPU_UNHEALTHY', () => {
  const titles = (valuesAt: (minute: number) => Record<string, number>, minutes = 20) =>
    sample(watchOf('node'), 0, minutes, valuesAt).map(([minute, type, title]) => [minute, type, title]);
  const fine = { 'gpu.0.util': 50, 'gpu.0.ecc_uncorrected': 2, 'gpu.0.throttled': 0, 'cpu.util': 3 };

  it('fires for further uncorrected memory errors, once in 6 hours', () => {
    const failing = (minute: number) => ({
      ...fine,
      'gpu.0.ecc_uncorrected': minute < 3 ? 2 : minute < 9 ? 3 : minute < 380 ? 5 : 8,
    });
    expect(titles(failing, 400)).to.deep.equal([
      [3, 'GPU_UNHEALTHY', 'GPU 0 has 1 further uncorrected memory error'],
      [380, 'GPU_UNHEALTHY', 'GPU 0 has 3 further uncorrected memory errors'],
    ]);
  });

  it('fires once while errors keep coming, and still for a GPU that is lost then', () => {
    const storm = (minute: number): Record<string, number> => ({
      ...(minute < 30 && { 'gpu.1.util': 50 }),
      ...fine,
      'gpu.0.ecc_uncorrected': Math.floor(minute * 10),
    });
    expect(titles(storm, 40)).to.deep.equal([
      [0, 'GPU_UNHEALTHY', 'GPU 0 has 1 further uncorrected memory error'],
      [33, 'GPU_UNHEALTHY', 'GPU 1 gives no figures any more'],
    ]);
  });

  const hot = (from: number, to: number) => (minute: number) => ({
    ...fine,
    'gpu.0.throttled': minute >= from && minute < to ? 1 : 0,
  });

  it('fires for a GPU that is throttled for 5 minutes', () => {
    expect(titles(hot(4, 20))).to.deep.equal([[9, 'GPU_UNHEALTHY', 'GPU 0 is throttled']]);
  });

  it('fires for a GPU that gives no figures while its host does', () => {
    const lost = (minute: number): Record<string, number> => (minute < 5 ? fine : { 'cpu.util': 3 });
    expect(titles(lost)).to.deep.equal([[8, 'GPU_UNHEALTHY', 'GPU 0 gives no figures any more']]);
  });

  const failing = (codes: Readonly<Record<number, number>>) => (minute: number) => {
    const code = codes[Math.round(minute * 30)];
    return { ...fine, ...(code !== undefined && { 'gpu.0.xid': code }) };
  };

  it('fires for an error of the driver (Xid) that says that the GPU is sick, once for each', () => {
    expect(titles(failing({ 30: 48, 31: 63, 32: 48, 60: 48 }))).to.deep.equal([
      [1, 'GPU_UNHEALTHY', 'GPU 0 reports Xid 48: an uncorrectable memory error (double bit)'],
      [1, 'GPU_UNHEALTHY', 'GPU 0 reports Xid 63: a bad memory row is replaced at the next reset'],
    ]);
    const gone = (minute: number): Record<string, number> => {
      if (minute < 5) return fine;
      return minute === 5 ? { 'gpu.0.xid': 79, 'cpu.util': 3 } : { 'cpu.util': 3 };
    };
    expect(titles(gone)).to.deep.equal([
      [5, 'GPU_UNHEALTHY', 'GPU 0 reports Xid 79: the GPU has fallen off the bus'],
      [8, 'GPU_UNHEALTHY', 'GPU 0 gives no figures any more'],
    ]);
  });

  it('fires again for the same Xid after the cool-down', () => {
    const again = failing({ 30: 79, 60: 79, 400: 79 });
    const watch = watchOf('node', { 'gpu-unhealthy': { cooldown_s: 600 } });
    expect(sample(watch, 0, 20, again).map(([minute]) => minute)).to.deep.equal([1, 13]);
  });

  it('does not fire for an Xid of an application', () => {
    expect(titles(failing({ 30: 13, 31: 31, 32: 43, 33: 45, 34: 68 }))).to.deep.equal([]);
  });

  it('does not fire for memory errors from before, or when their number begins anew', () => {
    expect(titles(() => fine)).to.deep.equal([]);
    expect(titles((minute) => ({ ...fine, 'gpu.0.ecc_uncorrected': minute < 3 ? 2 : 0 }))).to.deep.equal([]);
  });

  it('does not fire for a GPU that is throttled for 2 minutes', () => {
    expect(titles(hot(4, 6))).to.deep.equal([]);
  });

  it('does not fire for a host that is silent itself, or that has no GPU', () => {
    const watch = watchOf('node');
    sample(watch, 0, 5, () => fine);
    expect(sample(watch, 60, 2, () => ({ 'cpu.util': 3 }))).to.deep.equal([]);
    expect(titles(() => ({ 'cpu.util': 3 }))).to.deep.equal([]);
  });
});

describe('RUN_STALLED', () => {
  const point = (at: number): DetectorInput => ({
    kind: 'metric',
    at: AT + at,
    run_id: 'run',
    points: [{ seq: at, name: 'acc', step: at, value: 1 }],
  });

  /** Reports at these minutes, ticks up to the end, and returns the minutes at which it is told. */
  function stalledAt(
    reports: readonly number[],
    endMinute: number,
    more: readonly (readonly [minute: number, input: DetectorInput])[] = [],
  ) {
    const watch = watchOf('run');
    const told: number[] = [];
    const inputs = [...reports.map((minute) => [minute, point(minute * MINUTE_MS)] as const), ...more];
    const ticks = Array.from({ length: endMinute * 2 }, (_, index) => index / 2);
    const ticking = ticks.map((minute) => [minute, { kind: 'tick', at: AT + minute * MINUTE_MS }] as const);
    for (const [minute, input] of [...inputs, ...ticking].sort(([a], [b]) => a - b))
      for (const { finding } of watch.feed(input)) if (finding.type === 'RUN_STALLED') told.push(minute);
    return told;
  }
  const every = (minutes: number, until: number) =>
    Array.from({ length: Math.floor(until / minutes) + 1 }, (_, index) => index * minutes);
  const run = (status: Run['status'], minute: number) =>
    [minute, { kind: 'run', at: AT + minute * MINUTE_MS, run: { status } as Run }] as const;

  it('fires for a run that reported each minute and then not for 10, once', () => {
    expect(stalledAt(every(1, 30), 90)).to.deep.equal([40]);
  });

  it('fires by the rhythm of the run: reports every 30 minutes, and twice the longest silence', () => {
    expect(stalledAt(every(30, 300), 590)).to.deep.equal([]);
    expect(stalledAt(every(30, 300), 700)).to.deep.equal([600]);
    expect(stalledAt([...every(1, 30), ...every(1, 30).map((minute) => 45 + minute)], 104)).to.deep.equal([
      40,
    ]);
  });

  it('does not fire early for a run that has only begun, nor for one that never reported', () => {
    expect(stalledAt([0, 0.1, 0.2, 0.3, 1], 30)).to.deep.equal([]);
    expect(stalledAt([0, 0.1, 0.2, 0.3, 1], 40)).to.deep.equal([31]);
    expect(stalledAt([], 300)).to.deep.equal([]);
  });

  it('does not fire for a run that has ended, or while it is LOST', () => {
    expect(stalledAt(every(1, 30), 90, [run('SUCCEEDED', 31)])).to.deep.equal([]);
    expect(stalledAt(every(1, 30), 90, [run('LOST', 31)])).to.deep.equal([]);
    expect(stalledAt(every(1, 30), 90, [run('LOST', 31), run('RUNNING', 60)])).to.deep.equal([70]);
  });
});
