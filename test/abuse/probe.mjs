// A thread of its own, so that the load beside it does not falsify what it measures: asks for /health every 20 ms over one
// connection, and keeps the longest wait since 'begin' until 'end'. The time in which server or thread were ready to run and
// the system gave the processor to other programs does not count: a busy machine is not the server's fault.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const EVERY_MS = 20;
const { hostname, port } = new URL(workerData.url);
/** Second field, in ns: how long the thread was ready and had to wait for a processor. */
const SCHEDULING = [`/proc/${workerData.pid}/schedstat`, '/proc/thread-self/schedstat'];
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
let measured = start();
let isEnding = false;

function start() {
  return { longestWaitMs: 0, answers: {} };
}

function msWithoutProcessor() {
  return SCHEDULING.map(loadRunQueueNs).reduce((sum, ns) => sum + ns) / 1e6;
}

/** 0 where the system does not tell it. */
function loadRunQueueNs(file) {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[1]);
  } catch {
    return 0;
  }
}

function ask() {
  return new Promise((resolve) => {
    const request = http.get({ hostname, port, path: '/api/v1/health', agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    request.once('error', (error) => resolve(error.code ?? error.message));
  });
}

async function askOnce() {
  const startedMs = performance.now();
  const withoutProcessorMs = msWithoutProcessor();
  const into = measured;
  let answer = await ask();
  // A connection that the server had given up just then, as idle: whoever keeps one asks again.
  if (answer === 'ECONNRESET') answer = await ask();
  const waitedMs = performance.now() - startedMs - (msWithoutProcessor() - withoutProcessorMs);
  into.longestWaitMs = Math.max(into.longestWaitMs, waitedMs);
  into.answers[answer] = (into.answers[answer] ?? 0) + 1;
  if (isEnding) {
    isEnding = false;
    parentPort.postMessage(into);
  }
  setTimeout(askOnce, Math.max(0, EVERY_MS - (performance.now() - startedMs)));
}

parentPort.on('message', (message) => {
  if (message === 'begin') measured = start();
  else isEnding = true;
});
askOnce();
