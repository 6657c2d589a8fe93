import { type EventRecord } from '@svc/contract';
import {
  createTestKernel,
  eachDatabase,
  fakeClock,
  type FakeClock,
  type TestKernel,
} from '@svc/kernel/testing';
import { events, eventsRef } from '@svc/plugin-events';
import { expect } from 'chai';

const MIB = 1024 * 1024;

eachDatabase((database) => {
  describe('lists of events', function () {
    this.timeout(60_000);
    let kernel: TestKernel;
    let clock: FakeClock;
    before(async () => {
      clock = fakeClock();
      kernel = await createTestKernel({ plugins: [events()], database, clock });
    });
    after(() => kernel.close());

    async function append(count: number, type: string, sizeBytes = 0): Promise<void> {
      const { append: store } = kernel.use(eventsRef);
      for (let index = 0; index < count; index += 1) {
        // Two of each moment: what has one time is told apart by the id.
        if (index % 2 === 0) await clock.advance(1);
        const draft = { type, title: String(index), data: { x: 'x'.repeat(sizeBytes) } };
        await kernel.ctx.transaction((tx) => store(tx, draft));
      }
    }
    const get = async (query: string) =>
      (await kernel.request('GET', `/events?${query}`, { token: 'read' })) as {
        status: number;
        body: { items: EventRecord[]; truncated?: true; error: { message: string } };
      };
    async function readAll(query: string): Promise<string[]> {
      const titles: string[] = [];
      let before = '';
      for (;;) {
        const { items } = (await get(query + before)).body;
        titles.push(...items.map(({ title }) => title));
        if (items.length === 0) return titles;
        before = `&before=${items.at(-1)!.id}`;
      }
    }
    const countingDown = (count: number) =>
      Array.from({ length: count }, (_, index) => String(count - 1 - index));

    it('go on behind the item that `before` names, with nothing twice and nothing left out', async () => {
      await append(23, 'SMALL');
      for (const limit of [1, 2, 3, 7, 100])
        expect(await readAll(`type=SMALL&limit=${limit}`)).to.deep.equal(countingDown(23));
      const { items } = (await get('type=SMALL&limit=1')).body;
      expect(
        (await get(`type=SMALL&limit=2&before=${items[0]!.id.slice(4).toLowerCase()}`)).body.items,
      ).to.have.length(2);
    });

    it('are read in more than one piece where they are long', async () => {
      await append(130, 'LONG');
      expect((await get('type=LONG&limit=1000')).body.items.map(({ title }) => title)).to.deep.equal(
        countingDown(130),
      );
    });

    it('are cut at what an answer may hold, and go on from there', async () => {
      await append(30, 'LARGE', MIB);
      const { body } = await get('type=LARGE&limit=1000');
      expect(body.truncated).to.equal(true);
      expect(body.items).to.have.length.within(1, 8);
      expect(await readAll('type=LARGE&limit=1000')).to.deep.equal(countingDown(30));
    });

    it('that are large do not end the server, though many ask at once', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => get('type=LARGE&limit=1000')));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(8).fill(200));
    });

    it('answer 404 to an item that is not there', async () => {
      for (const before of ['nonsense', 'evt_01HZZZZZZZZZZZZZZZZZZZZZZZ']) {
        const { status, body } = await get(`before=${before}`);
        expect(status).to.equal(404);
        expect(body.error.message).to.contain(before);
      }
    });
  });
});
