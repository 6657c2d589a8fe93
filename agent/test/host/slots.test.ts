import type { SlotSpec } from '@svc/contract';
import { expect } from 'chai';
import type { SlotSource } from '../../src/core/collector.js';
import { createAgentLog } from '../../src/core/log.js';
import { HostSlots } from '../../src/host/slots.js';

describe('agent: slots of several sources', () => {
  const slot = (index: number, model: string): SlotSpec => ({
    index,
    uuid: `${model}-${index}`,
    model,
    memory_total_mb: null,
    virtual: false,
  });
  const source = (name: string, slots: () => SlotSpec[]): SlotSource => ({
    name,
    discover: async () => slots(),
  });
  const { signal } = new AbortController();

  it('have each index once, that of the source that comes first, and the log names what is left out', async () => {
    const logged: string[] = [];
    const log = createAgentLog({ write: (line) => logged.push(line) });
    const broken = source('broken', () => {
      throw new Error('no driver');
    });
    const first = source('first', () => [slot(0, 'H100')]);
    const second = source('second', () => [slot(0, 'MI300X'), slot(1, 'MI300X')]);
    const slots = new HostSlots([broken, first, second], log, () => {});
    await slots.discover(signal);
    for (let time = 0; time < 2; time += 1)
      expect(slots.all.map(({ uuid }) => uuid)).to.deep.equal(['H100-0', 'MI300X-1']);
    expect(logged.filter((line) => line.includes('a GPU is left out'))).to.have.length(1);
    expect(logged.join()).to.include('no driver');
  });
});
