// A thread of its own, so that the load beside it does not falsify what it measures: asks for /health every 20 ms over one
// connection, and keeps the longest wait since 'begin' until 'end'.
import http from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const EVERY_MS = 20;
const { hostname, port } = new URL(workerData.url);
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
let measured = start();
let isEnding = false;

function start() {
  return { longestWaitMs: 0, answers: {} };
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
  const into = measured;
  let answer = await ask();
  // A connection that the server had given up just then, as idle: whoever keeps one asks again.
  if (answer === 'ECONNRESET') answer = await ask();
  into.longestWaitMs = Math.max(into.longestWaitMs, performance.now() - startedMs);
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
