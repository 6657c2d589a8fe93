import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parseAccelerators, toFigures, toSlots } from '../src/agent/accelerators.js';
import { parsePlist } from '../src/agent/plist.js';

const read = (name: string) =>
  parseAccelerators(readFileSync(new URL(`fixtures/${name}.plist`, import.meta.url), 'utf8'));

describe('gpu-apple: answers of ioreg', () => {
  it('of a Mac with a processor of Apple: one GPU, whose memory is that of the host', () => {
    const gpus = read('apple-m3-max');
    expect(toSlots(gpus, 36_864)).to.deep.equal([
      { index: 0, uuid: 'apple-0', model: 'Apple M3 Max', memory_total_mb: 36_864, virtual: false },
    ]);
    expect(toFigures(gpus, 36_864)).to.deep.equal({
      'gpu.0.util': 86,
      'gpu.0.mem_used_mb': 1272,
      'gpu.0.mem_total_mb': 36_864,
    });
  });

  it('of a Mac with two GPUs, in other words', () => {
    const gpus = read('intel-with-radeon');
    expect(toSlots(gpus, 16_384).map(({ model, memory_total_mb }) => [model, memory_total_mb])).to.deep.equal(
      [
        ['IntelAccelerator', 16_384],
        ['AMD Radeon Pro 5600M', 8192],
      ],
    );
    expect(toFigures(gpus, 16_384)).to.deep.equal({
      'gpu.0.util': 3,
      'gpu.0.mem_used_mb': 160,
      'gpu.0.mem_total_mb': 16_384,
      'gpu.1.util': 42.5,
      'gpu.1.mem_used_mb': 2048,
      'gpu.1.mem_total_mb': 8192,
    });
  });

  it('without a GPU name none, and what is no list of devices is an error', () => {
    expect(parseAccelerators('')).to.deep.equal([]);
    expect(() => parseAccelerators('ioreg: error')).to.throw('a property list in XML was expected');
    expect(() => parseAccelerators('<plist><dict></dict></plist>')).to.throw('a list of devices');
  });

  it('are read as property lists: text, numbers, data, and what is malformed', () => {
    const plist = (inner: string) => parsePlist(`<plist version="1.0">${inner}</plist>`);
    expect(plist('<array><string>a &amp; b</string><real>1.5</real><true/><string/></array>')).to.deep.equal([
      'a & b',
      1.5,
      true,
      '',
    ]);
    expect(plist('<dict><key>__proto__</key><integer>1</integer></dict>')).to.have.own.property(
      '__proto__',
      1,
    );
    for (const malformed of [
      '<array>',
      '<dict><string>x</string></dict>',
      '<array></dict>',
      '<integer>1</real>',
    ])
      expect(() => plist(malformed), malformed).to.throw('was expected');
    expect(() => plist('<array>'.repeat(1000))).to.throw('was expected');
  });
});
