import { DispatchFailed } from '@svc/agent';
import { expect } from 'chai';

/** The message with which that work refuses to dispatch. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(DispatchFailed);
  return (error as Error).message;
}
