import { toReason, type AgentLog } from '@svc/agent';
import { loadJson, writeAtomic } from '@svc/agent/durable-file';
import type Docker from 'dockerode';
import { randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { mkdir } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { BlockList, isIPv4 } from 'node:net';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

/** What the hosts of a connection settle between them; the rest of a message is passed on. */
const BETWEEN_HOSTS = /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect)$/;
const MAX_CONNECTIONS = 1024;
/** Of one container: the others have room too. */
const MAX_CONNECTIONS_OF_ONE = 64;
/** A network of Podman has no address before its first container runs. */
const LISTEN_AGAIN_MS = 1000;
/** Of the ports that programs get by themselves. */
const PORTS = [49_152, 65_536] as const;

/** A network of the engine, as its containers see the host. */
interface Bridge {
  /** The address of the host. */
  readonly gateway: string;
  /** As 172.17.0.0/16. */
  readonly subnet: string;
}

/** What is kept, so that containers find the relay of the next agent at the same place. */
interface SavedRelay extends Bridge {
  readonly port: number;
  /** As `/secret`: what requests begin with. */
  readonly prefix: string;
  readonly server: string;
}

export interface RelaysOptions {
  readonly client: () => Promise<Docker>;
  /** The plugin's own. */
  readonly directory: string;
  readonly log: AgentLog;
}

/**
 * A container on a network of its own does not reach a server that listens on the loopback address of this host. For it the agent listens on the address
 * that the host has in that network, and passes requests on to the server. Must hold: it answers that network alone, there only those who know its secret,
 * as other hosts may be on it too, and passes requests on to that server alone.
 */
export class Relays {
  readonly #options: RelaysOptions;
  /** By the address of the host. */
  readonly #relays = new Map<string, Promise<Relay>>();
  #saved: readonly SavedRelay[] = [];
  #saving: Promise<void> = Promise.resolve();

  constructor(options: RelaysOptions) {
    this.#options = options;
  }

  /** Listens again for the containers that an earlier agent has started. */
  async restore(): Promise<void> {
    this.#saved = (await loadJson<SavedRelay[]>(this.#file)) ?? [];
    await Promise.all(this.#saved.map((each) => this.#open(each, each.server, each.port, each.prefix)));
  }

  /** The address of the server for a container on that network. */
  async addressOn(network: string, server: string): Promise<string> {
    if (network === 'host' || network === 'none' || !(await isLoopback(server))) return server;
    const bridge = await this.#findBridge(network);
    if (bridge === null) return server;
    const relay = await (this.#relays.get(bridge.gateway) ?? this.#open(bridge, server, 0, toPrefix()));
    relay.server = server;
    await this.#save();
    return `http://${bridge.gateway}:${relay.port}${relay.prefix}${new URL(server).pathname.replace(/\/$/, '')}`;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#relays.values()].map(async (relay) => (await relay).close()));
    await this.#saving.catch(() => {});
  }

  async #findBridge(network: string): Promise<Bridge | null> {
    const client = await this.#options.client();
    const { Driver, IPAM, Internal } = await client.getNetwork(network).inspect();
    const config = IPAM?.Config?.find(({ Gateway = '', Subnet }) => isIPv4(Gateway) && Subnet !== undefined);
    // The gateway of other drivers is another host.
    if (Driver !== 'bridge' || Internal === true || config === undefined) return null;
    return { gateway: config.Gateway as string, subnet: config.Subnet as string };
  }

  /** Must hold: it is in the map at once, as several containers start at the same moment. */
  #open(bridge: Bridge, server: string, port: number, prefix: string): Promise<Relay> {
    const relay = new Relay(bridge, server, prefix, {
      log: this.#options.log,
      isWanted: () => this.#keepUnlessGone(bridge),
    });
    const opened = relay.listen(port).then(() => relay);
    this.#relays.set(bridge.gateway, opened);
    return opened;
  }

  /** Forgets the relay of a network that the engine has no more. While the engine is away, it may have it. */
  async #keepUnlessGone({ gateway }: Bridge): Promise<boolean> {
    try {
      const networks = await (await this.#options.client()).listNetworks();
      const gateways = networks.flatMap(({ IPAM }) => IPAM?.Config ?? []).map(({ Gateway }) => Gateway);
      if (gateways.includes(gateway)) return true;
      this.#relays.delete(gateway);
      await this.#save();
      return false;
    } catch {
      return this.#relays.has(gateway);
    }
  }

  /** One after the other, as they write the same file. */
  #save(): Promise<void> {
    const save = async () => {
      const saved = (await Promise.all(this.#relays.values())).map((relay) => relay.saved);
      if (isDeepStrictEqual(saved, this.#saved)) return;
      await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
      await writeAtomic(this.#file, saved);
      this.#saved = saved;
    };
    this.#saving = this.#saving.then(save, save);
    return this.#saving;
  }

  get #file(): string {
    return path.join(this.#options.directory, 'relays.json');
  }
}

interface RelayOptions {
  readonly log: AgentLog;
  /** Whether the network may be there, asked while the host has no address in it. */
  isWanted(): Promise<boolean>;
}

/** On one network of the engine. */
class Relay {
  /** The one that requests go to. */
  server: string;
  /** Known once `listen` has resolved. */
  port = 0;
  readonly #bridge: Bridge;
  readonly #options: RelayOptions;
  readonly #neighbours = new BlockList();
  readonly #http: http.Server;
  /** Connections by the address of their container. */
  readonly #counts = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(
    bridge: Bridge,
    server: string,
    readonly prefix: string,
    options: RelayOptions,
  ) {
    this.server = server;
    this.#bridge = bridge;
    this.#options = options;
    const [address = '', bits] = bridge.subnet.split('/');
    this.#neighbours.addSubnet(address, Number(bits), 'ipv4');
    this.#http = http.createServer((request, response) => this.#pass(request, response));
    this.#http.maxConnections = MAX_CONNECTIONS;
    this.#http.on('connection', (socket) => {
      const { remoteAddress: address = '' } = socket;
      const count = (this.#counts.get(address) ?? 0) + 1;
      if (!this.#neighbours.check(address, 'ipv4') || count > MAX_CONNECTIONS_OF_ONE) return socket.destroy();
      this.#counts.set(address, count);
      socket.once('close', () => this.#leave(address));
    });
  }

  get saved(): SavedRelay {
    return { ...this.#bridge, port: this.port, prefix: this.prefix, server: this.server };
  }

  /** On that port if it is free; 0: on any. Resolves also when the host has no address in the network yet: then it goes on trying. */
  async listen(port: number): Promise<void> {
    try {
      await this.#listen(port);
      this.port = (this.#http.address() as { port: number }).port;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EADDRINUSE' && port !== 0) return this.listen(0);
      this.port = port === 0 ? randomInt(...PORTS) : port;
      if (code !== 'EADDRNOTAVAIL')
        this.#options.log.warn('containers do not reach the server: what they report waits for their end', {
          address: this.#bridge.gateway,
          reason: toReason(error),
        });
      this.#timer = setTimeout(() => void this.#listenAgain(), LISTEN_AGAIN_MS).unref();
    }
  }

  async #listenAgain(): Promise<void> {
    const isWanted = await this.#options.isWanted();
    if (isWanted && !this.#isClosed) await this.listen(this.port);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#http.closeAllConnections();
    await new Promise<void>((resolve) => this.#http.close(() => resolve()));
  }

  #listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(port, this.#bridge.gateway, () => {
        this.#http.off('error', reject);
        resolve();
      });
    });
  }

  #leave(address: string): void {
    const left = (this.#counts.get(address) ?? 1) - 1;
    if (left === 0) this.#counts.delete(address);
    else this.#counts.set(address, left);
  }

  /** What follows is a path: anything else would name a server of its own. */
  #isKnown(url: string): boolean {
    const [given, wanted] = [Buffer.from(url.slice(0, this.prefix.length)), Buffer.from(this.prefix)];
    return (
      given.length === wanted.length && timingSafeEqual(given, wanted) && url[this.prefix.length] === '/'
    );
  }

  /**
   * Must hold: each request has a connection of its own to the server, and a body of unknown length goes on in chunks. Otherwise the bytes of a body could
   * be read there as another request, whose answer another container gets.
   *
   * A server that does not answer shows as a connection that ends: the SDK then keeps its reports for later.
   */
  #pass(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { protocol, hostname, port } = new URL(this.server);
    const { method, url = '/', headers } = request;
    if (!this.#isKnown(url)) return void response.writeHead(404).end();
    const { request: ask } = protocol === 'https:' ? https : http;
    const passed = ask({
      agent: false,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      method,
      path: url.slice(this.prefix.length),
      headers: { ...toPassedOn(headers), ...(isChunked(headers) && { 'transfer-encoding': 'chunked' }) },
    });
    passed.on('error', () => response.destroy());
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, toPassedOn(answer.headers));
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  }
}

/** Of 128 bits. */
function toPrefix(): string {
  return `/${randomBytes(16).toString('base64url')}`;
}

function toPassedOn(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !BETWEEN_HOSTS.test(name)));
}

/** The server of Node refuses a request that names a length besides. */
function isChunked({ 'transfer-encoding': encoding }: http.IncomingHttpHeaders): boolean {
  return encoding !== undefined;
}

/** Its name leads to this host alone. */
async function isLoopback(server: string): Promise<boolean> {
  const name = new URL(server).hostname.replace(/^\[|\]$/g, '');
  const { address } = await lookup(name).catch(() => ({ address: name }));
  return address.startsWith('127.') || address === '::1';
}
