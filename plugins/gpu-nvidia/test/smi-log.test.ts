import { expect } from 'chai';
import { parseMigNames, parseSmiLog } from '../src/agent/smi-log.js';
import { recordingOf } from '../testing/stand-in.js';

const parse = (name: string) => parseSmiLog(recordingOf(name));

describe('gpu-nvidia: an answer of nvidia-smi', () => {
  it('is read as driver 470 writes it', () => {
    const log = parse('470-v100.xml');
    expect(log).to.include({ driver: '470.199.02', cuda: '11.4' });
    expect(log.gpus).to.have.length(1);
    expect(log.gpus[0]).to.deep.include({
      address: '00000000:3B:00.0',
      uuid: 'GPU-aaaaaaaa-1111-4222-8333-aaaaaaaaaaaa',
      model: 'Tesla V100-SXM2-32GB',
      totalMb: 32510,
      usedMb: 10251,
      isMig: false,
      trouble: null,
      figures: {
        util: 98,
        mem_used_mb: 10251,
        mem_total_mb: 32510,
        temp_c: 41,
        power_w: 56.41,
        sm_clock_mhz: 1530,
        mem_clock_mhz: 877,
        ecc_uncorrected: 1,
        throttled: 0,
      },
    });
  });

  it('names processes without their arguments', () => {
    expect(parse('470-v100.xml').gpus[0]?.processes).to.deep.equal([
      { pid: 4711, type: 'C', name: 'python3', memoryMb: 10247, gi: 'N/A', ci: 'N/A' },
    ]);
    expect(JSON.stringify(parse('470-v100.xml'))).not.to.include('secret');
    expect(parse('550-desktop.xml').gpus[0]?.processes.map(({ type, name }) => [type, name])).to.deep.equal([
      ['G', 'Xorg'],
      ['G', 'gnome-shell'],
      ['C+G', 'chrome'],
    ]);
  });

  const renamed: [recording: string, figures: Record<string, number>][] = [
    ['535-a100.xml', { power_w: 64.12, ecc_uncorrected: 2, throttled: 0 }],
    ['550-h100.xml', { power_w: 71.3, ecc_uncorrected: 3, throttled: 0 }],
    ['570-h100.xml', { power_w: 70.84, ecc_uncorrected: 3, throttled: 0 }],
  ];
  for (const [recording, figures] of renamed)
    it(`has the same figures whatever ${recording} calls them`, () => {
      expect(parse(recording).gpus[0]?.figures).to.include(figures);
    });

  it('says that the hardware slows a GPU down', () => {
    for (const which of ['thermal_slowdown', 'power_brake_slowdown']) {
      const text = recordingOf('570-h100.xml').replace(
        `reason_hw_${which}>Not Active`,
        `reason_hw_${which}>Active`,
      );
      expect(parseSmiLog(text).gpus[0]?.figures['throttled']).to.equal(1);
    }
  });

  const reasons: [recording: string, reason: string, figure: string, byHardware: number][] = [
    ['570-h100.xml', 'event_reason_hw_thermal_slowdown', 'throttle_hw_thermal', 1],
    ['570-h100.xml', 'event_reason_hw_power_brake_slowdown', 'throttle_hw_power', 1],
    ['570-h100.xml', 'event_reason_sw_thermal_slowdown', 'throttle_sw_thermal', 0],
    ['470-v100.xml', 'throttle_reason_sw_power_cap', 'throttle_sw_power', 0],
  ];
  for (const [recording, reason, figure, byHardware] of reasons)
    it(`tells which reason slows a GPU down: ${figure}`, () => {
      const idle = recordingOf(recording);
      const slow = idle.replace(`${reason}>Not Active`, `${reason}>Active`);
      const toThrottles = (text: string) =>
        Object.entries(parseSmiLog(text).gpus[0]?.figures ?? {}).filter(([name]) =>
          name.startsWith('throttle'),
        );
      expect(toThrottles(idle)).to.deep.equal([['throttled', 0]]);
      expect(toThrottles(slow)).to.deep.equal([
        ['throttled', byHardware],
        [figure, 1],
      ]);
    });

  it('leaves out what is not told, in whatever words', () => {
    const [gpu] = parse('525-not-told.xml').gpus;
    expect(Object.keys(gpu?.figures ?? {})).to.deep.equal([
      'util',
      'mem_used_mb',
      'mem_total_mb',
      'mem_clock_mhz',
      'ecc_uncorrected',
      'throttled',
    ]);
    expect(gpu?.processes).to.deep.equal([
      { pid: 200870, type: 'C', name: '', memoryMb: null, gi: 'N/A', ci: 'N/A' },
    ]);
    expect(gpu?.trouble).to.equal(null);
  });

  it('has MIG devices, which are not taken for their GPU', () => {
    const [split, whole] = parse('535-a100-mig.xml').gpus;
    expect(split).to.include({ isMig: true, totalMb: 81920, usedMb: 5062 });
    expect(split?.migDevices).to.deep.equal([
      { index: '0', gi: '1', ci: '0', totalMb: 40448, usedMb: 5037 },
      { index: '1', gi: '5', ci: '0', totalMb: 19968, usedMb: 25 },
    ]);
    expect(split?.figures).not.to.have.property('util');
    expect(whole).to.deep.include({ isMig: false, migDevices: [] });
    expect(parseMigNames(recordingOf('535-a100-mig.list.txt'))).to.deep.equal([
      {
        gpu: split?.uuid,
        index: '0',
        profile: 'MIG 3g.40gb',
        uuid: 'MIG-5ad2b8d5-1111-5222-9333-000000000001',
      },
      {
        gpu: split?.uuid,
        index: '1',
        profile: 'MIG 2g.20gb',
        uuid: 'MIG-5ad2b8d5-1111-5222-9333-000000000005',
      },
    ]);
  });

  it('says which GPU is lost, and which must be reset', () => {
    const [fine, lost] = parse('570-one-lost.xml').gpus;
    expect(fine?.trouble).to.equal(null);
    expect(lost?.trouble).to.equal('is in trouble: nvidia-smi says "GPU is lost"');
    expect(lost?.figures).to.deep.equal({ throttled: 0 });
    expect(parse('570-needs-reset.xml').gpus[0]?.trouble).to.equal(
      'needs recovery: nvidia-smi asks for "Reset"',
    );
  });

  it('names no GPU where there is none, or where it was cut off', () => {
    for (const text of ['', 'No devices were found', '<nvidia_smi_log>\n<attached_gpus>0</attached_gpus>\n'])
      expect(parseSmiLog(text).gpus).to.deep.equal([]);
    const cut = recordingOf('570-h100.xml').slice(0, 2000);
    expect(parseSmiLog(cut).gpus[0]).to.deep.include({ usedMb: null, processes: [] });
  });
});
