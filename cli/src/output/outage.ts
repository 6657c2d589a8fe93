import { ApiError, type FollowState } from '@svc/client';
import { toSentence } from './api-error.js';
import { note } from './print.js';

/** Prints once for each outage why a stream was lost. */
export function createOutageReporter(noun: string): (state: FollowState, error?: unknown) => void {
  let isReported = false;
  return (state, error) => {
    if (state === 'live') isReported = false;
    if (state !== 'waiting' || error === undefined || isReported) return;
    isReported = true;
    const reason = error instanceof ApiError ? toSentence(error) : (error as Error).message;
    note(`the ${noun} was lost (${reason}); reconnecting`);
  };
}
