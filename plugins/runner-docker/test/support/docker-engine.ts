import { isAlive, SmallDisk, until } from '@svc/agent/testing';
import Docker from 'dockerode';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Where the agents of the tests find the engine. */
export const SOCKET_VARIABLE = 'SVC_TEST_DOCKER_SOCKET';
export const IMAGE = 'svc-test:1';
const BUSYBOX = '/bin/busybox';

export interface DockerEngineOptions {
  /** Containers go on while it is away. */
  readonly liveRestore?: boolean;
  /** Its data lie on a disk of that size. */
  readonly diskMb?: number;
  /** Directories of programs that it finds before all others. */
  readonly path?: string;
}

/** A Docker engine of its own: `SVC_TEST_DOCKERD`, in a temporary directory. */
export class DockerEngine {
  readonly dir = mkdtempSync(path.join(os.tmpdir(), 'svc-dockerd-'));
  /** The same for each engine of this process, as the configuration of its agents is loaded once. */
  readonly socket = path.join(os.tmpdir(), `svc-docker-${process.pid}.sock`);
  readonly client = new Docker({ socketPath: this.socket });
  /** Where its data lie, when it was asked for. */
  readonly disk: SmallDisk | null;
  readonly #options: DockerEngineOptions;
  #process: ChildProcess | null = null;

  constructor(options: DockerEngineOptions = {}) {
    this.#options = options;
    this.disk = options.diskMb === undefined ? null : SmallDisk.mount(this.#dataRoot(), options.diskMb);
  }

  /** With an image of busybox. The agents of this process and of those that it starts find it. */
  static async create(options: DockerEngineOptions = {}): Promise<DockerEngine> {
    const engine = new DockerEngine(options);
    process.env[SOCKET_VARIABLE] = engine.socket;
    await engine.start();
    await engine.#importImage();
    return engine;
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const { SVC_TEST_DOCKERD: dockerd = '' } = process.env;
    const at = (name: string) => path.join(this.dir, name);
    const places = ['--data-root', this.#dataRoot(), '--exec-root', at('exec'), '--pidfile', at('pid')];
    const log = openSync(at('log'), 'a');
    this.#process = spawn(
      dockerd,
      [...places, '-H', `unix://${this.socket}`, ...(this.#options.liveRestore ? ['--live-restore'] : [])],
      { stdio: ['ignore', log, log], env: { ...process.env, PATH: this.#programs() } },
    );
    await until(() => this.client.ping().catch(() => null), 'the answer of the engine');
  }

  /** As an administrator does: it ends its containers, unless it lets them go on. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Its containerd ends with it, and its containers go on until it is back. */
  async kill(): Promise<void> {
    const pidFile = path.join(this.dir, 'exec', 'containerd', 'containerd.pid');
    const containerd = Number(readFileSync(pidFile, 'utf8'));
    await this.#end('SIGKILL');
    await until(async () => !(await isAlive(containerd)), 'the end of containerd');
    // The next engine would wait for one that has ended, as long as nobody has reaped it.
    rmSync(pidFile);
  }

  /** All containers there are. */
  async containers(): Promise<Docker.ContainerInfo[]> {
    return this.client.listContainers({ all: true });
  }

  log(): string {
    return readFileSync(path.join(this.dir, 'log'), 'utf8');
  }

  async close(): Promise<void> {
    if (this.#process === null) await this.start();
    for (const { Id } of await this.containers()) await this.client.getContainer(Id).remove({ force: true });
    await this.stop();
    this.#unmount();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const running = this.#process;
    this.#process = null;
    if (running === null) return;
    const gone = once(running, 'exit');
    running.kill(signal);
    await gone;
  }

  /** What an engine leaves mounted in its directory. */
  #unmount(): void {
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
    const places = mounts
      .map((line) => line.split(' ')[1] ?? '')
      .filter((place) => place.startsWith(this.dir));
    for (const place of places.reverse()) execFileSync('umount', ['--lazy', place]);
  }

  #programs(): string {
    return [this.#options.path, process.env['PATH']].filter((entry) => entry !== undefined).join(':');
  }

  #dataRoot(): string {
    return path.join(this.dir, 'data');
  }

  async #importImage(): Promise<void> {
    const root = path.join(this.dir, 'rootfs');
    const bin = path.join(root, 'bin');
    mkdirSync(bin, { recursive: true });
    copyFileSync(BUSYBOX, path.join(bin, 'busybox'));
    const applets = execFileSync(BUSYBOX, ['--list'], { encoding: 'utf8' }).trim().split('\n');
    for (const applet of applets) if (applet !== 'busybox') symlinkSync('busybox', path.join(bin, applet));
    const archive = spawn('tar', ['-C', root, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await this.client.importImage(archive.stdout, { repo: IMAGE });
    await until(
      () =>
        this.client
          .getImage(IMAGE)
          .inspect()
          .catch(() => null),
      'the image',
    );
  }
}

/** A suite with an engine of its own; where there is no Docker it is skipped. */
export function describeWithEngine(
  name: string,
  define: (engine: () => DockerEngine) => void,
  options: DockerEngineOptions = {},
): void {
  describe(name, function () {
    this.timeout(120_000);
    let engine: DockerEngine | null = null;
    before(async function () {
      if (!process.env['SVC_TEST_DOCKERD']) this.skip();
      engine = await DockerEngine.create(options);
    });
    after(() => engine?.close());
    define(() => engine as DockerEngine);
  });
}
