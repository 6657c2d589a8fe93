import { createAgentLog } from '@svc/agent';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { appendFileSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { toPciAddress, toXid, XidErrors } from '../src/agent/xid-errors.js';

const record = (text: string, sequence = 1) => `4,${sequence},100,-;${text}\n`;
const xid = (code: number, place = '0000:3b:00') =>
  record(`NVRM: Xid (PCI:${place}): ${code}, pid=7, name=python3, text of the driver`);
const INDICES = new Map([
  ['0:3b:00', [0]],
  ['0:5e:00', [1, 2]],
]);

describe('gpu-nvidia: errors of GPUs in the kernel log', () => {
  let dir: string;
  let file: string;
  let lines: string[];
  let errors: XidErrors;
  beforeEach(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-xid-'));
    file = path.join(dir, 'kmsg');
    lines = [];
  });
  afterEach(() => {
    errors?.close();
    rmSync(dir, { recursive: true });
  });
  const log = createAgentLog({ write: (line) => void lines.push(line) });
  const open = (of = file) => {
    errors = new XidErrors(log, (address) => INDICES.get(address) ?? [], of);
    errors.start();
    return errors;
  };
  async function opened(): Promise<XidErrors> {
    writeFileSync(file, xid(79));
    expect(await open().measure(), 'from before the start').to.deep.equal({});
    return errors;
  }

  it('are read from what the kernel writes, with the PCI address that nvidia-smi gives too', () => {
    expect(toXid(xid(79))).to.deep.equal({ address: '0:3b:00', code: 79 });
    expect(toXid(record('NVRM: Xid (0000:01:00): 31, Ch 0000000b'))).to.deep.equal({
      address: '0:01:00',
      code: 31,
    });
    expect(toPciAddress('00000000:3B:00.0')).to.equal('0:3b:00');
    expect(toPciAddress('[N/A]')).to.equal(null);
    for (const other of [
      '',
      'NVRM: Xid (PCI:0000:3b:00): 79',
      `12,1,1,-;NVRM: Xid (PCI:0000:3b:00): 79, written by a program`,
      record('a program says NVRM: Xid (PCI:0000:3b:00): 79,'),
      record('NVRM: Xid (PCI:0000:3b:00): many'),
    ])
      expect(toXid(other), other).to.equal(null);
  });

  it('are figures of their GPU, or of its MIG devices, one a sample, and the same one once a minute', async () => {
    await opened();
    const samples: object[] = [];
    for (const text of [xid(48), xid(63), xid(48), xid(74, '0000:5e:00'), xid(79, '0000:ff:00')]) {
      appendFileSync(file, text);
      samples.push(await errors.measure());
    }
    expect(samples).to.deep.equal([
      { 'gpu.0.xid': 48 },
      { 'gpu.0.xid': 63 },
      {},
      { 'gpu.1.xid': 74, 'gpu.2.xid': 74 },
      {},
    ]);
    expect(await errors.measure()).to.deep.equal({});
  });

  it('are read from a device without waiting', async () => {
    execFileSync('mkfifo', [file]);
    open();
    const writer = openSync(file, 'w');
    expect(await errors.measure()).to.deep.equal({});
    for (const code of [48, 63, 94]) {
      writeSync(writer, xid(code));
      // A record is what one read gives.
      expect(await errors.measure()).to.deep.equal({ 'gpu.0.xid': code });
    }
    closeSync(writer);
  });

  it('are found behind a flood, beside which others have their turns', async () => {
    await opened();
    appendFileSync(file, record('usb 1-1: reset high-speed USB device').repeat(200_000));
    appendFileSync(file, xid(95));
    let turns = 0;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    // The file is read in pieces of many records, of which the last one is not the first line.
    expect(await errors.measure()).to.deep.equal({});
    clearImmediate(counting);
    expect(turns).to.be.at.least(10);
    appendFileSync(file, xid(94));
    expect(await errors.measure()).to.deep.equal({ 'gpu.0.xid': 94 });
  });

  it('are not seen where the log cannot be read, which is said once', async () => {
    open(path.join(dir, 'missing'));
    expect(await errors.measure()).to.deep.equal({});
    expect(await errors.measure()).to.deep.equal({});
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/info +Xid errors of GPUs are not seen, as the kernel log cannot be read/);
  });
});
