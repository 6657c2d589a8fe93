import { DispatchFailed } from '@svc/agent';
import { expect } from 'chai';
import { chooseUser, type UserChoice } from '../src/agent/user.js';

const ROOT = { name: 'root', uid: 0, gid: 0 };
const ANNA = { name: 'anna', uid: 1000, gid: 100 };
const JOBS = { name: 'jobs', uid: 900, gid: 900, home: '/home/jobs' };

const choose = (choice: Partial<UserChoice>) =>
  chooseUser({
    wanted: null,
    jobUser: null,
    agent: ROOT,
    isRootless: false,
    allowAnyUser: false,
    nodeName: 'gpu-1',
    ...choice,
  });

describe('as whom a container runs', () => {
  it('is the user of --run-as, as for processes', () => {
    expect(choose({ jobUser: JOBS })).to.deep.include({ spec: '900:900', isConfined: true });
    for (const wanted of ['jobs', '900', '900:900'])
      expect(choose({ jobUser: JOBS, wanted }).spec).to.equal('900:900');
  });

  it('is the user of an agent that is not root', () => {
    expect(choose({ agent: ANNA })).to.deep.include({ spec: '1000:100', isConfined: true });
  });

  for (const wanted of ['root', '0', '0:0', '1000:0', 'anna:docker', '900:0'])
    it(`is never ${wanted} by the choice of the job alone`, () => {
      for (const choice of [{ jobUser: JOBS }, { agent: ANNA }])
        expect(() => choose({ ...choice, wanted })).to.throw(DispatchFailed, /allowAnyUser: true/);
    });

  it('is any user where the agent says so, who is not confined then', () => {
    const chosen = choose({ jobUser: JOBS, wanted: 'root', allowAnyUser: true });
    expect(chosen).to.deep.equal({ spec: 'root', unknownToImage: null, isConfined: false });
  });

  it('is that of the image or the job for an agent that is root', () => {
    expect(choose({})).to.deep.equal({ spec: null, unknownToImage: null, isConfined: false });
    expect(choose({ wanted: '1000' })).to.deep.include({ spec: '1000', isConfined: false });
  });

  it('is that of the image or the job for an engine without root, and confined', () => {
    expect(choose({ agent: ANNA, isRootless: true, wanted: 'root' })).to.deep.equal({
      spec: 'root',
      unknownToImage: null,
      isConfined: true,
    });
    expect(() => choose({ jobUser: JOBS, isRootless: true })).to.throw(DispatchFailed, /runs without root/);
  });
});
