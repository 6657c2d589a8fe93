import { definePlugin } from '@svc/kernel';
import { eachDatabase, type TestDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { falling, Lab } from './support/lab.js';

/** Rules of a third party about runs. */
const strangers = definePlugin({
  name: 'strangers',
  setup(ctx) {
    ctx.hooks.semanticRules.tap(ctx.name, (rules) => {
      rules.add({
        name: 'plateau',
        subject: 'run',
        evaluate(evidence) {
          const metric = 'summary' in evidence ? evidence.summary?.metrics['plateau'] : undefined;
          if (!metric) return { findings: [], next_actions: [] };
          const cited = { metric: 'plateau', step: metric.latest.step, value: metric.latest.value };
          return {
            findings: [
              {
                severity: 'warning',
                title: 'A plateau',
                message: 'it is level',
                confidence: 0.9,
                evidence: [cited],
                fixes: ['Stop it.'],
              },
            ],
            next_actions: [
              { tool: 'list_nodes', args: {}, reason: 'Look elsewhere.' },
              { tool: 'list_nodes', args: { all: true }, reason: 'The tool takes no such argument.' },
            ],
          };
        },
      });
      rules.add({
        name: 'broken',
        subject: 'run',
        evaluate() {
          throw new Error('a rule that always throws');
        },
      });
    });
  },
});

eachDatabase((database: TestDatabase) => {
  describe('diagnosis: anomalies and health warnings', function () {
    this.timeout(60_000);
    let lab: Lab;
    before(async () => void (lab = await Lab.open(database, [strangers()])));
    after(() => lab?.close());

    it('a run that goes well has none', async () => {
      const found = await lab.diagnose(await lab.runWith({ 'train/loss': falling(100), lr: falling(100) }));
      expect(found).to.deep.include({
        anomalies: [],
        health_warnings: [],
        health: { status: 'ok', reasons: [] },
      });
    });

    it('the health and its reasons are those of the summary, each with its evidence', async () => {
      const series = {
        loss: [...falling(40), 1, 50],
        'val/loss': [1, 'NaN', 2],
        x: [1, '-Infinity'],
      } as const;
      const run = await lab.runWith(series);
      const { health, health_warnings } = await lab.diagnose(run);
      expect(health).to.deep.equal((await lab.rig.get(`/runs/${run.id}/summary`)).body.health);
      expect(health_warnings.map(({ message }) => message)).to.deep.equal(health.reasons);
      expect(health_warnings.flatMap(({ evidence }) => evidence)).to.deep.equal([
        { metric: 'val/loss', step: 1, value: 'NaN' },
        { metric: 'x', step: 1, value: '-Infinity' },
        { metric: 'loss', step: 41, value: 50 },
      ]);
    });

    it('a NaN loss is one critical anomaly, with its first point, its event and what to change', async () => {
      const run = await lab.runWith({ 'train/loss': [1, 2, 'NaN', 'NaN'] });
      const title = 'train/loss is NaN';
      const event_id = await lab.event({ type: 'LOSS_NAN', severity: 'critical', title, run_id: run.id });
      const { anomalies, next_actions } = await lab.diagnose(run);
      expect(anomalies).to.have.length(1);
      expect(anomalies[0]).to.deep.include({
        kind: 'nan',
        severity: 'critical',
        message: 'train/loss is NaN from step 2 on (2 points)',
        evidence: [{ metric: 'train/loss', step: 2, value: 'NaN' }, { event_id }],
      });
      expect(anomalies[0]?.fixes[0]).to.match(/learning rate/);
      expect(next_actions[0]).to.deep.include({
        tool: 'query_metrics',
        args: { run_id: run.id, names: ['train/loss'] },
      });
    });

    it('an infinite loss is one critical anomaly and one reason, with its first point and its event', async () => {
      const run = await lab.runWith({ 'train/loss': [1, 2, 'Infinity', 'Infinity'] });
      const event_id = await lab.event({
        type: 'LOSS_NAN',
        severity: 'critical',
        title: 'train/loss is Infinity',
        run_id: run.id,
        data: { metric: 'train/loss', step: 2, value: 'Infinity' },
      });
      const { anomalies, health } = await lab.diagnose(run);
      const message = 'train/loss is Infinity at step 2';
      expect(health).to.deep.equal({ status: 'critical', reasons: [message] });
      expect(anomalies).to.have.length(1);
      expect(anomalies[0]).to.deep.include({
        kind: 'infinity',
        severity: 'critical',
        message,
        evidence: [{ metric: 'train/loss', step: 2, value: 'Infinity' }, { event_id }],
      });
    });

    it('events of severity warning and critical are told, those of one kind once, and those of its course are not', async () => {
      const run = await lab.runWith({ loss: falling(64) });
      const slow = {
        type: 'CUSTOM',
        severity: 'warning',
        title: 'the disk is slow',
        run_id: run.id,
      } as const;
      const ids = [await lab.event(slow), await lab.event(slow), await lab.event(slow)];
      await lab.event({ ...slow, severity: 'info', title: 'lr dropped' });
      await lab.event({ ...slow, type: 'RUN_FOUND', title: 'the run is back' });
      await lab.event({ ...slow, type: 'RUN_STALLED', title: 'no points' });
      const critical = await lab.event({
        ...slow,
        type: 'GPU_UNHEALTHY',
        severity: 'critical',
        title: 'Xid 79',
      });
      const { anomalies, health_warnings } = await lab.diagnose(run);
      expect(anomalies.map(({ kind, message }) => `${kind}: ${message}`)).to.deep.equal([
        'GPU_UNHEALTHY: Xid 79',
        'CUSTOM: the disk is slow (3 times)',
      ]);
      expect(anomalies[0]?.evidence).to.deep.equal([{ event_id: critical }]);
      expect(anomalies[1]?.evidence).to.deep.equal(ids.reverse().map((event_id) => ({ event_id })));
      expect(health_warnings.map(({ message }) => message)).to.deep.equal(['Xid 79']);
    });

    it('a rule of a third party counts, without the action that its tool would refuse; one that throws does not hinder', async () => {
      const { anomalies, next_actions } = await lab.diagnose(await lab.runWith({ plateau: [1, 1] }));
      expect(anomalies).to.deep.equal([
        {
          kind: 'plateau',
          severity: 'warning',
          message: 'A plateau: it is level',
          evidence: [{ metric: 'plateau', step: 1, value: 1 }],
          fixes: ['Stop it.'],
        },
      ]);
      const own = next_actions.filter(({ tool }) => tool === 'list_nodes');
      expect(own).to.deep.equal([{ tool: 'list_nodes', args: {}, reason: 'Look elsewhere.' }]);
    });

    it('500 metrics, all with a NaN, and a metric with a name of an object', async () => {
      const names = Array.from({ length: 500 }, (_, index) => `layer.${index}/loss`);
      const run = await lab.runWith({
        ...Object.fromEntries(names.map((name) => [name, [1, 'NaN']])),
        constructor: [1, 2],
      });
      const { anomalies, next_actions } = await lab.diagnose(run);
      expect(anomalies.length).to.be.within(1, 50);
      expect(next_actions.length).to.be.within(1, 10);
    });
  });
});
