import { eachDatabase, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Lab } from './support/lab.js';

describe('a clean start of a job', () => {
  eachDatabase((database) => {
    it('reads its row at most twice: for the claim, and when it runs', async () => {
      const lab = await Lab.open({ database });
      const agent = await lab.agent();
      const reads: string[] = [];
      const note = ({ sql, bindings }: { sql: string; bindings?: readonly unknown[] }) => {
        if (/^select .* from [`"]jobs[`"] where [`"]id[`"] =/.test(sql))
          reads.push(`${sql} ${String(bindings)}`);
      };
      lab.kernel.db.on('query', note);
      const job = await lab.submit();
      await agent.start({ job_id: job.id });
      await until(() => lab.history(job).includes('RUNNING'));
      lab.kernel.db.off('query', note);
      expect(reads.filter((read) => read.includes(job.id))).to.have.length.at.most(2);
      expect(reads, 'the test sees what it counts').to.not.be.empty;
      await lab.close();
    });
  });
});
