import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';

/**
 * `pass`: nothing is wrong. `refuse`: what is open is reset, what comes is reset. `reset`: what is open is reset once. `swallow`: half-open,
 * bytes go nowhere, and the connection is reset when that is over. `hold`: bytes wait and go on when that is over. `delay`: bytes come late.
 */
export type CutMode = 'refuse' | 'reset' | 'swallow' | 'hold' | 'delay';
export type CutTraffic = 'agent' | 'sdk' | 'all';

const DELAY_MS = 150;
const AGENT_REQUEST = 'GET /api/v1/agent/ws';

/** A TCP proxy in front of the server whose connections can be cut in several ways. */
export interface CuttingProxy {
  readonly url: string;
  /** Where new connections go. */
  target: number;
  /** What is cut, until `heal`. */
  cut(mode: CutMode, traffic: CutTraffic): void;
  heal(): void;
  close(): Promise<void>;
}

interface Link {
  readonly near: Socket;
  readonly far: Socket;
  readonly isAgent: boolean;
  /** Bytes that wait, with where they go. */
  held: { to: Socket; bytes: Buffer }[];
  swallowed: boolean;
}

export async function createCuttingProxy(target: number): Promise<CuttingProxy> {
  const links = new Set<Link>();
  /** Clients that have sent nothing yet. */
  const silent = new Set<Socket>();
  let fault: { mode: CutMode; traffic: CutTraffic } | null = null;

  const modeOf = (link: Link): CutMode | null =>
    fault && (fault.traffic === 'all' || (fault.traffic === 'agent') === link.isAgent) ? fault.mode : null;
  const reset = (link: Link): void => {
    links.delete(link);
    resetSocket(link.near);
    resetSocket(link.far);
  };

  const forward = (link: Link, to: Socket, bytes: Buffer): void => {
    const mode = modeOf(link);
    if (mode === 'swallow') link.swallowed = true;
    else if (mode === 'hold' || link.held.length > 0) link.held.push({ to, bytes });
    else if (mode === 'delay') delayed(link, to, bytes);
    else to.write(bytes);
  };
  /** In order: what comes later waits behind it. */
  const delayed = (link: Link, to: Socket, bytes: Buffer): void => {
    link.held.push({ to, bytes });
    setTimeout(() => release(link), DELAY_MS);
  };
  const release = (link: Link): void => {
    if (modeOf(link) === 'hold') return;
    for (const { to, bytes } of link.held.splice(0)) if (to.writable) to.write(bytes);
  };

  /** One side has closed: the other gets what is left and is closed, unless it is not to hear of it. */
  const part = (link: Link, other: Socket): void => {
    if (other.closed) links.delete(link);
    if (modeOf(link) === 'swallow') return void (link.swallowed = true);
    release(link);
    other.end();
  };

  const join = (near: Socket, first: Buffer): void => {
    const far = net.connect(proxy.target, '127.0.0.1');
    const isAgent = first.toString('latin1', 0, AGENT_REQUEST.length) === AGENT_REQUEST;
    const link: Link = { near, far, isAgent, held: [], swallowed: false };
    links.add(link);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes: Buffer) => forward(link, to, bytes));
      from.on('error', () => reset(link));
      from.on('close', () => part(link, to));
    }
    if (modeOf(link) === 'refuse') return reset(link);
    forward(link, far, first);
  };

  const server = net.createServer((near) => {
    silent.add(near);
    near.on('error', () => near.destroy());
    near.on('close', () => silent.delete(near));
    near.once('data', (first: Buffer) => {
      silent.delete(near);
      join(near, first);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    cut(mode, traffic) {
      fault = { mode, traffic };
      const hit = [...links].filter((link) => modeOf(link) !== null);
      if (mode === 'reset' || mode === 'refuse') hit.forEach(reset);
      if (mode === 'reset') fault = null;
    },
    heal() {
      fault = null;
      for (const link of links) {
        if (link.swallowed) reset(link);
        else release(link);
      }
    },
    async close() {
      proxy.heal();
      links.forEach(reset);
      silent.forEach(resetSocket);
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

/**
 * Node keeps a socket for ever, and spins at its exit, when it is reset while its end is still to be sent. One that waits for
 * its connection would be reset only after that. Both are closed without a reset.
 */
function resetSocket(socket: Socket): void {
  if (socket.connecting || socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
