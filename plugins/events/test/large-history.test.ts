import { newId } from '@svc/contract';
import { createTestKernel, eachDatabase, until, type TestKernel } from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { expect } from 'chai';
import { once } from 'node:events';
import net from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { EventFilter } from '../src/filter.js';
import { historyPage } from '../src/store.js';

const MIB = 1024 * 1024;
const FIRST_ID = `evt_${'0'.repeat(26)}`;
const ALL: EventFilter = { run_id: null, job_id: null, node_id: null, type: null, severity: null };

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

eachDatabase((database) => {
  describe('a long history of events', function () {
    this.timeout(120_000);
    let kernel: TestKernel;
    beforeEach(async () => {
      kernel = await createTestKernel({ plugins: [events()], database });
    });
    afterEach(() => kernel.close());

    /** As published events at the positions from `from` on. */
    async function store(from: number, count: number, { type = 'T', dataChars = 0 } = {}): Promise<void> {
      const data = JSON.stringify({ x: 'x'.repeat(dataChars) });
      const rows = Array.from({ length: count }, (_, index) => ({
        id: newId('event'),
        position: from + index,
        type,
        severity: 'info',
        title: 't',
        message: '',
        data,
        created_at: 1,
      }));
      await kernel.db.transaction(async (trx) => {
        for (let at = 0; at < rows.length; at += 50) await trx('events').insert(rows.slice(at, at + 50));
      });
    }

    it('costs little memory while clients that asked for it do not read', async () => {
      await store(1, 300, { dataChars: 65_000 });
      collectGarbage();
      const beforeBytes = process.memoryUsage().heapUsed;
      const { port } = new URL(kernel.url);
      const sockets = Array.from({ length: 10 }, () => {
        const socket = net.connect(Number(port), '127.0.0.1');
        socket.write(
          `GET /api/v1/events/stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer read\r\nLast-Event-ID: ${FIRST_ID}\r\n\r\n`,
        );
        return socket;
      });
      // A listener of this event reads no more than the first piece.
      await Promise.all(sockets.map((socket) => once(socket, 'readable')));
      let heldBytes = 0;
      let quietChecks = 0;
      // Each has what its socket takes, and no one reads any more.
      const isQuiet = () => {
        collectGarbage();
        const nowBytes = process.memoryUsage().heapUsed - beforeBytes;
        quietChecks = Math.abs(nowBytes - heldBytes) < MIB / 4 ? quietChecks + 1 : 0;
        heldBytes = nowBytes;
        return quietChecks > 10;
      };
      await until(isQuiet, { timeoutMs: 100_000 });
      expect(heldBytes / MIB).to.be.below(15);
      for (const socket of sockets) socket.destroy();
    });

    it('is read in pages that end by the size of the events', async () => {
      await store(1, 40, { dataChars: 65_000 });
      await store(41, 100);
      const positions: number[] = [];
      let pages = 0;
      for (let after = 0; after < 140; pages += 1) {
        const page = await historyPage(kernel.db, { after, upTo: 140 }, ALL, 500);
        expect(page.events.length).to.be.at.most(after < 38 ? 3 : 500);
        positions.push(...page.events.map(({ position }) => position));
        after = page.upTo;
      }
      expect(positions).to.deep.equal(Array.from({ length: 140 }, (_, index) => index + 1));
      expect(pages).to.be.within(10, 30);
    });

    it('is searched in pieces of the table for the few that a filter wants', async () => {
      await store(1, 12_000);
      await store(12_001, 3, { type: 'RARE' });
      const upTo = 12_003;
      const first = await historyPage(kernel.db, { after: 0, upTo }, { ...ALL, type: 'RARE' }, 10);
      expect(first).to.deep.equal({ events: [], upTo: 5_000 });
      const client = await kernel.sse('/events/stream?type=RARE', { token: 'read', lastEventId: FIRST_ID });
      for (let count = 0; count < 3; count += 1) expect((await client.take()).data.type).to.equal('RARE');
      await client.close();
    });
  });
});
