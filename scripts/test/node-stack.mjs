// Asks a Node process that does not end what it is doing. Its inspector answers even while its JavaScript spins.
import { once } from 'node:events';
import { createServer } from 'node:net';
import WebSocket from 'ws';

const ANSWER_WITHIN_MS = 10_000;
const RETRY_MS = 100;
const SHOWN_FRAMES = 20;

/** Where the process opens its inspector once it is asked to: `node --inspect-port=<port>`. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Lines for a reader: the stack, what is active, the open sockets. */
export async function describeNode(pid, port) {
  const deadline = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    process.kill(pid, 'SIGUSR1');
    const { stack, resources, sockets } = JSON.parse(await evaluate(port, REPORT, deadline));
    return [
      ...(stack.length > 0
        ? ['it runs:', ...stack.slice(0, SHOWN_FRAMES).map((line) => `  ${line}`)]
        : ['it runs no JavaScript']),
      `active: ${resources.join(', ') || 'nothing'}`,
      ...sockets,
    ];
  } catch {
    return ['it does not answer its inspector: it is starting, ending or busy in native code'];
  }
}

/** Evaluated in that process. */
const REPORT = `JSON.stringify((({ javascriptStack, libuv }) => {
  const place = (end) => (end ? (end.ip4 ?? end.ip6) + ':' + end.port : 'nowhere');
  return {
    stack: javascriptStack.stack.filter((line) => !/getReport|^at <anonymous>|JSON.stringify/.test(line)),
    resources: process.getActiveResourcesInfo(),
    sockets: libuv.filter(({ type }) => type === 'tcp')
      .map((tcp) => 'socket: ' + place(tcp.localEndpoint) + ' to ' + place(tcp.remoteEndpoint)),
  };
})(process.report.getReport()))`;

async function evaluate(port, expression, deadline) {
  const socket = new WebSocket(await inspectorUrl(port, deadline));
  try {
    await once(socket, 'open', { signal: deadline });
    socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
    const [answer] = await once(socket, 'message', { signal: deadline });
    return JSON.parse(answer).result.result.value;
  } finally {
    socket.terminate();
  }
}

/** The inspector takes a moment to open. */
async function inspectorUrl(port, deadline) {
  for (;;) {
    try {
      const [target] = await (await fetch(`http://127.0.0.1:${port}/json/list`, { signal: deadline })).json();
      return target.webSocketDebuggerUrl;
    } catch (error) {
      if (deadline.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
