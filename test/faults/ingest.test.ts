import type { MetricPoint } from '@svc/contract';
import { expect } from 'chai';
import { judgeCounts, judgePoints } from './ingest-check.js';
import { pointOf } from './ingest-clients.js';
import { runIngestRounds } from './ingest-rounds.js';

const SEED = 1;
const ROUNDS = 3;

describe('ingest: the server is killed while clients write', function () {
  this.timeout(180_000);

  it(`${ROUNDS} rounds lose no acknowledged point, double none, invent none`, async () => {
    const { breaches, points, kills } = await runIngestRounds(SEED, ROUNDS);
    expect(breaches).to.deep.equal([]);
    expect(kills).to.equal(ROUNDS);
    expect(points).to.be.above(100);
  });

  describe('its judge', () => {
    const sent = new Set([0, 1, 2, 3, 4]);
    const acknowledged = new Set([0, 1, 2]);
    const stored = (...seqs: number[]): MetricPoint[] => seqs.map(pointOf);
    const judge = (points: MetricPoint[]) => judgePoints(points, { sent, acknowledged }, [[3, 4]]).join();

    it('finds nothing where nothing is wrong, whether the unanswered batch is there or not', () => {
      expect(judge(stored(0, 1, 2))).to.equal('');
      expect(judge(stored(0, 1, 2, 3, 4))).to.equal('');
    });

    it('finds a point that was lost, doubled, invented, changed, or stored without the rest of its batch', () => {
      expect(judge(stored(0, 2))).to.match(/^acknowledged and lost: 1, such as 1$/);
      expect(judge(stored(0, 1, 1, 2))).to.match(/^stored twice/);
      expect(judge(stored(0, 1, 2, 7))).to.match(/^invented: 1, such as 7$/);
      expect(judge([...stored(0, 1), { ...pointOf(2), value: -1 }])).to.match(
        /^not as first sent: 1, such as 2$/,
      );
      expect(judge(stored(0, 1, 2, 4))).to.match(/^stored in part/);
    });

    it('finds a summary that counts other than what is there', () => {
      const counts = new Map(stored(0, 1, 2).map(({ name }) => [name, 1]));
      expect(judgeCounts(stored(0, 1, 2), counts)).to.deep.equal([]);
      expect(judgeCounts(stored(0, 1), counts)).to.have.length(1);
      expect(judgeCounts(stored(0, 1, 2, 3), counts)).to.have.length(1);
    });
  });
});
