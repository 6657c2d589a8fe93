import { failureRule } from '../failure-rule.js';

export const tooManyProcesses = failureRule({
  name: 'too-many-processes',
  title: 'No more threads or processes could be started',
  cause: 'The user or the container of the job reached its limit of processes.',
  fixes: [
    'Raise the limit (ulimit -u, pids limit of the container).',
    'Use fewer workers, and set OMP_NUM_THREADS.',
  ],
  confidence: 0.92,
  remedy: 'change',
  patterns: [
    /\bcan't start new thread\b/,
    /\b(?:fork|pthread_create)\b.{0,200}?Resource temporarily unavailable/,
    /Resource temporarily unavailable.{0,200}?\b(?:fork|thread)\b/,
    /BlockingIOError: \[Errno 11\]/,
  ],
});
