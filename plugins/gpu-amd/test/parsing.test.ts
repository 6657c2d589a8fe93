import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import * as amdSmi from '../src/agent/amd-smi.js';
import { mibOf, numberOf, parseAnswer } from '../src/agent/json-answer.js';
import * as rocmSmi from '../src/agent/rocm-smi.js';

const answer = (folder: string, name: string) =>
  parseAnswer(readFileSync(new URL(`fixtures/${folder}/${name}.json`, import.meta.url), 'utf8'), name);
const ownerOf = (pid: number) =>
  pid === 4242 ? { user: 'ada', job: 'job_1' } : { user: null, job: undefined };

describe('gpu-amd: answers of amd-smi', () => {
  it('of ROCm 7 on accelerators', () => {
    const of = (name: string) => answer('amd-smi-rocm-7.2-mi300x', name);
    const indices = amdSmi.toIndices(of('list'));
    expect(amdSmi.toSlots(of('list'), of('static'), indices)).to.deep.equal([
      {
        index: 0,
        uuid: 'e6ff74a1-0000-1000-801e-8ce6e3a4c6b2',
        model: 'AMD Instinct MI300X',
        memory_total_mb: 196_592,
        virtual: false,
      },
      {
        index: 1,
        uuid: '42ff74a1-0000-1000-80a5-0f3c6e42b7d9',
        model: 'AMD Instinct MI300X',
        memory_total_mb: 196_592,
        virtual: false,
      },
    ]);
    expect(amdSmi.toFigures(of('metric'), indices)).to.deep.equal({
      'gpu.0.util': 94,
      'gpu.0.mem_used_mb': 17_153,
      'gpu.0.mem_total_mb': 196_592,
      'gpu.0.temp_c': 71,
      'gpu.0.power_w': 612,
      'gpu.0.sm_clock_mhz': 2087,
      'gpu.0.mem_clock_mhz': 900,
      'gpu.1.util': 0,
      'gpu.1.mem_used_mb': 284,
      'gpu.1.mem_total_mb': 196_592,
      'gpu.1.temp_c': 38,
      'gpu.1.sm_clock_mhz': 132,
      'gpu.1.mem_clock_mhz': 900,
    });
    expect(amdSmi.toProcesses(of('process'), indices, ownerOf)).to.deep.equal([
      { gpu: 0, pid: 4242, name: '/usr/bin/python3.12', mem_mb: 16_856, user: 'ada', job_id: 'job_1' },
    ]);
  });

  it('of ROCm 6 on cards that HIP counts in another order, beside a GPU that it does not use', () => {
    const of = (name: string) => answer('amd-smi-rocm-6.3-radeon-pro', name);
    const indices = amdSmi.toIndices(of('list'));
    const slots = amdSmi.toSlots(of('list'), of('static'), indices);
    expect(
      slots.map(({ index, uuid, memory_total_mb }) => [index, uuid.slice(0, 4), memory_total_mb]),
    ).to.deep.equal([
      [0, 'bbff', 16_368],
      [1, 'aaff', 16_368],
    ]);
    const figures = amdSmi.toFigures(of('metric'), indices);
    expect(figures).to.include({
      'gpu.1.util': 42,
      'gpu.1.temp_c': 47,
      'gpu.1.sm_clock_mhz': 1014,
      'gpu.0.util': 3,
    });
    expect(Object.keys(figures)).to.have.length(14);
    expect(amdSmi.toProcesses(of('process'), indices, ownerOf)).to.deep.equal([
      { gpu: 1, pid: 74_853, name: 'unknown', mem_mb: 1017, user: null, job_id: null },
    ]);
  });

  it('that name no numbers of HIP leave those of amd-smi', () => {
    const listed = [
      { gpu: 0, bdf: '0000:03:00.0', uuid: 'N/A' },
      { gpu: 1, uuid: 'N/A', hip_id: 'N/A' },
    ];
    const indices = amdSmi.toIndices(listed);
    expect(amdSmi.toSlots(listed, [], indices)).to.deep.equal([
      { index: 0, uuid: '0000:03:00.0', model: 'AMD GPU', memory_total_mb: null, virtual: false },
      { index: 1, uuid: 'amd-1', model: 'AMD GPU', memory_total_mb: null, virtual: false },
    ]);
  });

  it('that are of another kind name nothing', () => {
    for (const odd of [null, 'N/A', 7, {}, { gpu_data: 'N/A' }, [null, 'x', { gpu: 'N/A' }, []]]) {
      expect(amdSmi.toIndices(odd).size).to.equal(0);
      expect(amdSmi.toFigures(odd, new Map([[0, 0]]))).to.deep.equal({});
      expect(amdSmi.toProcesses(odd, new Map([[0, 0]]), ownerOf)).to.deep.equal([]);
    }
  });
});

describe('gpu-amd: answers of rocm-smi', () => {
  it('on one card, with its processes', () => {
    const of = (name: string) => answer('rocm-smi-6.2-radeon', name);
    expect(rocmSmi.toSlots(of('describe'))).to.deep.equal([
      {
        index: 0,
        uuid: '0x34a2c5e4f1b7d9aa',
        model: 'Radeon RX 7900 XTX',
        memory_total_mb: 24_560,
        virtual: false,
      },
    ]);
    expect(rocmSmi.toFigures(of('measure'), new Set([0]))).to.deep.equal({
      'gpu.0.util': 37,
      'gpu.0.mem_used_mb': 758,
      'gpu.0.mem_total_mb': 24_560,
      'gpu.0.temp_c': 49,
      'gpu.0.power_w': 19,
      'gpu.0.sm_clock_mhz': 31,
      'gpu.0.mem_clock_mhz': 1249,
    });
    expect(rocmSmi.toProcesses(of('measure'), ownerOf)).to.deep.equal([
      { gpu: 0, pid: 28_389, name: 'llama-server', mem_mb: 2245, user: null, job_id: null },
    ]);
  });

  it('of older versions and of GPUs in processors, in other words', () => {
    const of = (name: string) => answer('rocm-smi-5.4-two-cards', name);
    const slots = rocmSmi.toSlots(of('describe'));
    expect(slots.map(({ uuid, model }) => [uuid, model])).to.deep.equal([
      ['0x9bf1c7a5d20e66a1', 'AMD INSTINCT MI200 (MCM) OAM LC MBA HPE C2'],
      ['0000:C4:00.0', '0x1900'],
    ]);
    expect(rocmSmi.toFigures(of('measure'), new Set([0, 1]))).to.include({
      'gpu.0.util': 100,
      'gpu.0.temp_c': 58,
      'gpu.0.power_w': 128,
      'gpu.1.power_w': 7.222,
      'gpu.1.mem_used_mb': 460,
    });
    expect(rocmSmi.toProcesses(of('measure'), ownerOf), 'on which card is not said').to.deep.equal([]);
  });

  it('that are of another kind name nothing', () => {
    for (const odd of [null, [], {}, { card0: 'N/A', system: 'N/A' }]) {
      expect(rocmSmi.toSlots(odd)).to.deep.equal([]);
      expect(rocmSmi.toFigures(odd, new Set([0]))).to.deep.equal({});
      expect(rocmSmi.toProcesses(odd, ownerOf)).to.deep.equal([]);
    }
  });
});

describe('gpu-amd: values', () => {
  it('are read in each of their forms', () => {
    const forms: [unknown, number | null][] = [
      [42, 42],
      ['42.5', 42.5],
      ['(1090Mhz)', 1090],
      [{ value: 7, unit: 'W' }, 7],
      [{ value: 'N/A', unit: 'W' }, null],
      ['N/A', null],
      [null, null],
      [NaN, null],
    ];
    for (const [form, number] of forms) expect(numberOf(form)).to.equal(number);
    expect(mibOf({ value: 2, unit: 'GB' }, 'MB')).to.equal(2048);
    expect(mibOf({ value: 2048, unit: 'KiB' }, 'MB')).to.equal(2);
    expect(mibOf({ value: 2, unit: 'potatoes' }, 'MB')).to.equal(null);
    expect(mibOf('1048576', 'B')).to.equal(1);
    expect(mibOf('N/A', 'B')).to.equal(null);
  });

  it('of something that is no JSON are an error with what was said instead', () => {
    expect(() => parseAnswer('ERROR: no amdgpu driver\n', 'amd-smi list')).to.throw(
      '"amd-smi list" answered with something else than JSON: ERROR: no amdgpu driver',
    );
    expect(() => parseAnswer('', 'amd-smi list')).to.throw('answered with something else');
  });
});
