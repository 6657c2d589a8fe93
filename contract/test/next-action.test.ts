import { NextActionRecord, TOOL_NAMES, routes } from '@svc/contract';
import { compileCheck } from '@svc/kernel';
import { expect } from 'chai';

/** The kernel for tests holds every answer against the schema of its route, and so every action that a suite is answered. */
describe('rule 8: a next action', () => {
  const check = compileCheck(NextActionRecord, 'leave');
  const job_id = 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ';

  it('names one of the 20 tools, with arguments that pass its input schema, and a reason', () => {
    expect(TOOL_NAMES).to.have.length(20);
    expect(check({ tool: 'get_job', args: { job_id }, reason: 'why' })).to.deep.equal([]);
    for (const wrong of [
      { tool: 'get_job', args: { job: job_id }, reason: 'why' },
      { tool: 'get_job', args: {}, reason: 'why' },
      { tool: 'no_such_tool', args: {}, reason: 'why' },
      { tool: 'cancel_job', args: { job_id }, reason: 'without confirm' },
      { tool: 'get_job', args: { job_id } },
    ])
      expect(check(wrong), JSON.stringify(wrong)).not.to.deep.equal([]);
  });

  for (const { id, answers } of [
    routes.recommendCheckpoint,
    routes.bestCheckpoint,
    routes.compareRuns,
    routes.compareCheckpoints,
    routes.explainRunFailure,
    routes.explainJobFailure,
    routes.diagnoseRun,
  ])
    it(`is one of a list in each answer of ${id}`, () => {
      expect(answers[200].required).to.include('next_actions');
      expect(answers[200].properties.next_actions.items).to.equal(NextActionRecord);
    });
});
