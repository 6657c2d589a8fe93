import { eachDatabase, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { useNode } from './support/use-node.js';

describe('the present figures of a node', () => {
  eachDatabase((database) => {
    const node = useNode(database);

    const ofHost = (pid: number) => ({
      pid,
      name: 'python3',
      user: 'ada',
      cpu_percent: 99.5,
      mem_mb: 512,
      job_id: null,
    });

    it('has the processes of the host in the snapshot, and refuses a frame with more than it may have', async () => {
      const now = node.clock.now();
      const send = (count: number) =>
        node.agent.sendRaw(
          JSON.stringify({
            type: 'node_metrics',
            ts: [now],
            values: { 'cpu.util': [1] },
            processes: [],
            host_processes: Array.from({ length: count }, (_, pid) => ofHost(pid)),
          }),
        );
      send(2);
      await node.heard(now);
      expect((await node.snapshot()).host_processes).to.deep.equal([ofHost(0), ofHost(1)]);
      send(65);
      await until(() => node.agent.closed !== null);
    });

    it('GET /nodes and GET /nodes/{id} show what is measured now, and nothing that is older than a minute', async () => {
      const slots = [0, 1].map((index) => ({
        index,
        uuid: `GPU-${index}`,
        model: 'H100',
        memory_total_mb: 81_559,
        virtual: false,
      }));
      const health = { state: 'ok', reason: null, since: null };
      const record = async () => (await node.get(`/nodes/${node.agent.nodeId}`)).body;
      const unmeasured = {
        utilization: null,
        memory_used_mb: null,
        temperature_c: null,
        power_w: null,
        sm_clock_mhz: null,
        mem_clock_mhz: null,
        processes: [],
      };
      await node.agent.connect({ slots });
      expect(await record()).to.deep.include({ live: null });
      expect((await record()).slots).to.deep.equal(
        slots.map((slot) => ({ ...slot, busy: false, job_id: null, health, ...unmeasured })),
      );
      const processes = Array.from({ length: 6 }, (_, pid) => ({
        gpu: 1,
        pid,
        name: 'p'.repeat(200),
        mem_mb: pid,
        user: null,
        job_id: null,
      }));
      const tellAll = () => {
        const now = node.clock.now();
        const values = {
          'cpu.util': [12.5],
          'ram.used_mb': [1024],
          'disk.used_gb': [10],
          'disk.free_gb': [90],
          'net.rx_bps': [8],
          'net.tx_bps': [16],
          'gpu.1.util': [97],
          'gpu.1.mem_used_mb': [40_960],
          'gpu.1.temp_c': [61],
          'gpu.1.power_w': [412.5],
          'gpu.1.sm_clock_mhz': [1980],
          'gpu.1.mem_clock_mhz': [2619],
        };
        node.tell([now], values, processes);
        return now;
      };
      const now = tellAll();
      await node.heard(now);
      const expectShown = async () => {
        const shown = await record();
        expect(shown.live).to.deep.equal({
          ts: now,
          cpu_util: 12.5,
          ram_used_mb: 1024,
          disk_used_gb: 10,
          disk_free_gb: 90,
          net_rx_bps: 8,
          net_tx_bps: 16,
        });
        expect(shown.slots[0]).to.deep.include(unmeasured);
        const { processes: listed, ...slot } = shown.slots[1];
        expect(slot).to.deep.include({
          utilization: 97,
          memory_used_mb: 40_960,
          temperature_c: 61,
          power_w: 412.5,
          sm_clock_mhz: 1980,
          mem_clock_mhz: 2619,
        });
        expect(listed.map(({ pid }: { pid: number }) => pid)).to.deep.equal([5, 4, 3, 2]);
        expect(listed[0]).to.deep.equal({
          pid: 5,
          name: 'p'.repeat(64),
          user: null,
          mem_mb: 5,
          job_id: null,
        });
        expect((await node.get('/nodes')).body.items[0].slots).to.deep.equal(shown.slots);
      };
      await expectShown();
      const bytesOfSlot = JSON.stringify((await record()).slots[1]).length;
      expect(bytesOfSlot, 'with the longest names of processes').to.be.below(1200);
      const drained = await node.kernel.request('POST', `/nodes/${node.agent.nodeId}/drain`, {
        token: 'write',
      });
      expect(drained.body.slots[1].utilization).to.equal(97);

      await node.clock.advance(60_001);
      expect((await record()).live).to.equal(null);
      expect((await record()).slots[1]).to.deep.include(unmeasured);
    });
  });
});
