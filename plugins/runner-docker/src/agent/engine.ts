import { toReason, type Probe } from '@svc/agent';
import { readBootId } from '@svc/agent/boot-id';
import { within } from '@svc/agent/within';
import type Docker from 'dockerode';
import { existsSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { agentUser } from './agent-user.js';

/** How often it is asked whether it is there. */
const LOOK_MS = 5000;
const RETRY_MS = 500;
/** An engine that does not answer a probe by then counts as away. */
const PROBE_MS = 10_000;
/** To kill and remove a large container takes time. */
const ANSWER_MS = 120_000;
/** A container of a list takes about 2000. */
const MAX_ANSWER_CHARS = 16 * 1024 * 1024;

const DISCONNECTS = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** Of `GET /containers/json`. */
export interface ListedContainer {
  readonly Id: string;
  readonly Labels: Readonly<Record<string, string>> | null;
}

/** What `GET /version` tells. */
interface VersionAnswer {
  readonly Version?: string;
  readonly Components?: readonly { readonly Name: string }[] | null;
}

/** The container engine of this host, by its socket; it may come and go. */
export class Engine {
  readonly socket: string;
  /** Why the last probe had no answer; null: it had one. */
  trouble: string | null = null;
  /** Why the engine that is named cannot be used. */
  readonly #flaw: string | null;
  #client: Promise<Docker> | null = null;

  constructor(socket: string | null, dockerHost = process.env['DOCKER_HOST'] ?? '') {
    this.socket = socket ?? (toPath(dockerHost) || findSocket());
    this.#flaw = socket === null ? findFlaw(dockerHost) : null;
  }

  /**
   * Loaded with the first container, as it takes 20 MB. Must hold: each request has a connection of its own. An engine that ends first takes no more of them,
   * and then ends its containers: what becomes of those is asked once it is back.
   */
  client(): Promise<Docker> {
    return (this.#client ??= import('dockerode').then(({ default: Client }) => {
      const options = { socketPath: this.socket, agent: new http.Agent({ keepAlive: false }) };
      return new Client(options);
    }));
  }

  /** Whether it answers, at once and then every few seconds. */
  async *probes(signal: AbortSignal): AsyncIterable<Probe> {
    while (!signal.aborted) {
      yield await this.#probe(signal);
      await delay(LOOK_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /**
   * The life of the engine in which its containers run: another one after it, or the host, was restarted. An engine makes its default network anew when it
   * starts, unless it has let its containers go on (live-restore); Podman has no such network, and its containers need no engine.
   */
  async life(): Promise<string> {
    const networks = await (await this.client()).listNetworks({ filters: { name: ['bridge'] } });
    const bridge = networks.find(({ Name }) => Name === 'bridge');
    return `${readBootId()} ${bridge?.Created ?? ''}`;
  }

  /** All containers with that label, also those that have ended. Asked without the client, as each agent that starts asks. */
  async listLabelled(label: string, value: string): Promise<readonly ListedContainer[]> {
    const filters = JSON.stringify({ label: [`${label}=${value}`] });
    const query = new URLSearchParams({ all: 'true', filters });
    return (await askEngine(this.socket, `/containers/json?${query}`)) as ListedContainer[];
  }

  /** Until the container does not run any more. Rejects when the engine goes away. */
  async untilStopped(id: string, abortSignal: AbortSignal): Promise<void> {
    const { modem } = await this.client();
    const statusCodes = { 200: true, 404: 'no such container', 500: 'server error' };
    const wanted = { path: `/containers/${id}/wait?`, method: 'POST', statusCodes, abortSignal, options: {} };
    // As a stream: what the client collects into an answer never settles when the engine ends in the middle of it.
    const answer = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
      modem.dial({ ...wanted, isStream: true }, (error, stream) =>
        error ? reject(error as Error) : resolve(stream as NodeJS.ReadableStream),
      );
    });
    for await (const _ of answer);
  }

  /** Asks again until the engine answers: it must be right to ask twice. Rejects with what it has answered, or when the signal aborts. */
  async untilAnswered<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      try {
        const asked = ask();
        if (await within(asked, ANSWER_MS)) return await asked;
      } catch (error) {
        if (isRefusal(error)) throw error;
      }
      await delay(RETRY_MS, undefined, { signal, ref: false });
    }
  }

  async #probe(signal: AbortSignal): Promise<Probe> {
    if (this.#flaw !== null) return { available: false, reason: this.#flaw, version: null };
    try {
      const { Version = '', Components } = (await askEngine(
        this.socket,
        '/version',
        signal,
      )) as VersionAnswer;
      const isPodman = Components?.some(({ Name }) => Name.startsWith('Podman')) ?? false;
      this.trouble = null;
      return { available: true, reason: null, version: isPodman ? `podman ${Version}` : Version };
    } catch (error) {
      this.trouble = explainAway(error, this.socket);
      return { available: false, reason: this.trouble, version: null };
    }
  }
}

/** The engine has answered that it cannot be done. Errors of its own, as while it starts or stops, say nothing of the container. */
export function isRefusal(error: unknown): boolean {
  const { statusCode = 0 } = error as { statusCode?: number };
  return statusCode >= 400 && statusCode < 500;
}

/** The connection failed, and whether the engine has done what it was asked is not known. Other failures are final: it has answered, or may not be asked. */
export function isDisconnect(error: unknown): boolean {
  const { statusCode, code = '', syscall } = error as NodeJS.ErrnoException & { statusCode?: number };
  if (statusCode !== undefined) return false;
  return DISCONNECTS.has(code) || (code === 'ENOENT' && syscall === 'connect');
}

export function isNotFound(error: unknown): boolean {
  return (error as { statusCode?: number }).statusCode === 404;
}

/** In the engine's own words; those of its absence in ours. Other errors, as of the disk of the agent, tell of themselves. */
export function toEngineReason(error: unknown, socket: string): string {
  const { json } = error as { json?: { message?: string } | null };
  return isOfConnection(error) ? explainAway(error, socket) : json?.message?.trim() || toReason(error);
}

function isOfConnection(error: unknown): boolean {
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall === 'connect' || code === 'ECONNRESET' || code === 'EPIPE';
}

function explainAway(error: unknown, socket: string): string {
  const { code = toReason(error) } = error as NodeJS.ErrnoException;
  const at = `no container engine answers at ${socket}`;
  if (code === 'ENOENT') return `${at}: there is no such socket`;
  if (code === 'EACCES')
    return `${at}: permission denied; run the agent as root or as a member of the group docker`;
  if (code === 'ECONNREFUSED') return `${at}: it is not running`;
  return `${at} (${code})`;
}

/** Of a DOCKER_HOST such as `unix:///run/docker.sock`, or the path alone. */
function toPath(dockerHost: string): string {
  return dockerHost.replace(/^unix:\/\//, '');
}

function findFlaw(dockerHost: string): string | null {
  if (dockerHost === '' || toPath(dockerHost).startsWith('/')) return null;
  return `DOCKER_HOST=${dockerHost} is not a Unix socket: write unix:///path, as unix:///run/docker.sock; the engine must run on this host`;
}

function findSocket(): string {
  const { XDG_RUNTIME_DIR = `/run/user/${agentUser().uid}` } = process.env;
  const usual = ['/var/run/docker.sock', `${XDG_RUNTIME_DIR}/docker.sock`];
  const podman = ['/run/podman/podman.sock', `${XDG_RUNTIME_DIR}/podman/podman.sock`];
  return [...usual, ...podman].find((socket) => existsSync(socket)) ?? '/var/run/docker.sock';
}

/** Without the client, which a host without containers need not load. */
function askEngine(socketPath: string, path: string, signal?: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = { socketPath, path, agent: false, timeout: PROBE_MS, ...(signal && { signal }) } as const;
    const request = http.get(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > MAX_ANSWER_CHARS) request.destroy(new Error('it is no container engine'));
      });
      response.once('end', () => {
        try {
          if (response.statusCode !== 200) throw new Error(`it answers with status ${response.statusCode}`);
          resolve(JSON.parse(text));
        } catch (error) {
          reject(error as Error);
        }
      });
      response.once('error', reject);
    });
    request.once('timeout', () => request.destroy(new Error('it does not answer in time')));
    request.once('error', reject);
  });
}
