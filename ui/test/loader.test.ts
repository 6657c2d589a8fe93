import { expect } from 'chai';
import type { ReactiveControllerHost } from 'lit';
import { mock } from 'node:test';
import { Loader } from '../src/controllers/loader.js';
import { ApiError } from '../src/data/api.js';

const MINUTE = 60_000;
const missing = () => new ApiError({ code: 'not_found', message: 'no run', status: 404 });
const refused = () => new ApiError({ code: 'validation_error', message: 'no', status: 422 });

describe('Loader', () => {
  const page = globalThis as { document?: unknown };
  let asked: number;
  let answer: () => string;

  beforeEach(() => {
    asked = 0;
    answer = () => 'run-1';
    mock.timers.enable({ apis: ['setTimeout'] });
    page.document = Object.assign(new EventTarget(), { hidden: false });
  });
  afterEach(() => {
    mock.timers.reset();
    delete page.document;
  });

  const open = async (isRecord: boolean) => {
    const host = { addController: () => {}, requestUpdate: () => {} } as unknown as ReactiveControllerHost;
    const load = (): Promise<string> => {
      asked += 1;
      return new Promise((resolve) => resolve(answer()));
    };
    const loader = new Loader<string>(host, { load, everyMs: 5000, isRecord });
    loader.hostConnected();
    await settle();
    return loader;
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  /** The page is looked at again, and a minute passes. */
  const pass = async () => {
    (page.document as EventTarget).dispatchEvent(new Event('visibilitychange'));
    for (let ms = 0; ms < MINUTE; ms += 1000) {
      mock.timers.tick(1000);
      await settle();
    }
  };
  const fail = (error: () => ApiError) => () => {
    throw error();
  };

  it('asks no more for a record that was deleted, and knows that it was', async () => {
    const loader = await open(true);
    answer = fail(missing);
    loader.reload();
    await settle();
    expect(loader.isDeleted).to.equal(true);
    const before = asked;
    await pass();
    expect(asked).to.equal(before);
    answer = () => 'run-1';
    loader.refresh();
    await pass();
    expect(loader.isDeleted).to.equal(false);
    expect(asked).to.be.greaterThan(before + 1);
    loader.hostDisconnected();
  });

  for (const [what, isRecord, error] of [
    ['what may be there later', false, missing],
    ['a record that was refused', true, refused],
  ] as const)
    it(`goes on to ask for ${what}`, async () => {
      answer = fail(error);
      const loader = await open(isRecord);
      expect(loader.isDeleted).to.equal(false);
      const before = asked;
      await pass();
      expect(asked).to.be.greaterThan(before);
      loader.hostDisconnected();
    });
});
