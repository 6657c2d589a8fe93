import type { Job } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { jobsMigrations } from '../src/migrations.js';
import { Lab } from './support/lab.js';
import { toQueuedRow } from './support/queued-row.js';

/** More than one part of a search. */
const MANY = 5_200;
const ROWS_PER_INSERT = 200;

describe('searching jobs', () => {
  eachDatabase((database) => {
    let lab: Lab;
    before(async () => void (lab = await Lab.open({ database })));
    after(() => lab.close());

    const submit = async (name: string, project = 'search') =>
      (
        await lab.request('POST', '/jobs', {
          name,
          project,
          command: ['true'],
          node_selector: { node: 'no' },
        })
      ).body as Job;
    const page = async (query: Record<string, string>) => {
      const answer = await lab.request('GET', `/jobs?${new URLSearchParams(query)}`);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      return answer.body as { items: Job[]; next_before: number | null };
    };
    const names = async (q: string, rest: Record<string, string> = {}) =>
      (await page({ q, ...rest })).items.map(({ name }) => name);

    it('finds every word in the name, whatever its case, and no wildcards', async () => {
      await submit('ResNet-50 lr=0.1 Größe');
      await submit('resnet_18 100%');
      expect(await names('resnet')).to.deep.equal(['resnet_18 100%', 'ResNet-50 lr=0.1 Größe']);
      expect(await names(' LR=0.1  resnet ')).to.deep.equal(['ResNet-50 lr=0.1 Größe']);
      expect(await names('GRÖßE')).to.deep.equal(['ResNet-50 lr=0.1 Größe']);
      expect(await names('t_1')).to.deep.equal(['resnet_18 100%']);
      expect(await names('t_5')).to.deep.equal([]);
      expect(await names('0%')).to.deep.equal(['resnet_18 100%']);
      expect(await names('!')).to.deep.equal([]);
      expect(await names("'; drop table jobs; --")).to.deep.equal([]);
      expect(await names('resnet', { name: 'resnet_18 100%' })).to.deep.equal(['resnet_18 100%']);
      expect(await names('resnet', { status: 'RUNNING' })).to.deep.equal([]);
    });

    it('finds the beginning and the end of an id', async () => {
      const { id } = await submit('by id');
      for (const q of [id, id.slice(4), id.toLowerCase(), id.slice(0, -2), id.slice(-6).toLowerCase()])
        expect(await names(q), q).to.include('by id');
      expect(await names(`by ${id.slice(-6)}`)).to.deep.equal(['by id']);
      expect(await names(`other ${id.slice(-6)}`)).to.deep.equal([]);
      expect(await names(id.slice(-5))).to.deep.equal([]);
      expect(await names('job_')).to.deep.equal([]);
    });

    it('refuses a text that is too long', async () => {
      const { status, body } = await lab.request('GET', `/jobs?q=${'a'.repeat(201)}`);
      expect(status).to.equal(422);
      expect(JSON.stringify(body)).to.contain('q');
    });

    it('finds jobs made before there was a search', async () => {
      const { db } = lab.kernel;
      const { name } = await submit('Before', 'old');
      await db.schema.alterTable('jobs', (table) => table.dropColumn('search_name'));
      const migration = jobsMigrations.find((one) => one.name === '0007-search');
      await db.transaction((trx) => migration!.up(trx));
      expect(await names('bEFORE')).to.deep.equal([name]);
    });

    it('finds jobs behind many others, page by page, and lets other requests in between', async () => {
      const { db } = lab.kernel;
      const oldest = await submit('needle 1');
      const next = oldest.created_at;
      const rows = Array.from({ length: MANY }, (_, index) =>
        toQueuedRow({ created_at: next + 1 + index, status: 'SUCCEEDED' }),
      );
      for (let from = 0; from < MANY; from += ROWS_PER_INSERT)
        await db('jobs').insert(rows.slice(from, from + ROWS_PER_INSERT));
      const { id } = toQueuedRow();
      await db('jobs').insert(
        toQueuedRow({ id, name: 'needle 2', search_name: 'needle 2', created_at: next + MANY + 1 }),
      );
      expect(await names('needle')).to.deep.equal(['needle 2', 'needle 1']);
      const first = await page({ q: 'needle', limit: '1' });
      expect(first.items.map(({ name }) => name)).to.deep.equal(['needle 2']);
      const second = await page({ q: 'needle', limit: '1', before: String(first.next_before) });
      expect(second.items.map(({ name }) => name)).to.deep.equal(['needle 1']);
      expect(second.next_before).to.equal(null);
      expect(await names('nowhere')).to.deep.equal([]);
      expect((await page({ q: 'train', limit: '1000' })).items).to.have.length(1000);
    });
  });
});
