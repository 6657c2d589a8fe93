import { until } from '@svc/agent/testing';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** No manifest and no configuration of an image of the tests is so large. */
const LAYER_BYTES = 1_000_000;
export const LOGIN = { username: 'anna', password: 'not-a-secret' };
const HTPASSWD = 'anna:$2y$05$abcdefghijklmnopqrstuuVPNOToLP9MHdthRCXkVoiIF0qNKnk2G\n';

/** A registry of its own on loopback: `SVC_TEST_DOCKER_REGISTRY`, with its images in a temporary directory. */
export class Registry {
  readonly #dir = mkdtempSync(path.join(os.tmpdir(), 'svc-registry-'));
  readonly #process: ChildProcess;
  /** As the names of its images begin. */
  host = '';

  private constructor(isPrivate: boolean) {
    const at = (name: string) => path.join(this.#dir, name);
    writeFileSync(at('htpasswd'), HTPASSWD);
    const config = {
      version: 0.1,
      log: { level: 'info', formatter: 'text' },
      storage: { filesystem: { rootdirectory: at('images') } },
      http: { addr: '127.0.0.1:0' },
      ...(isPrivate && { auth: { htpasswd: { realm: 'test', path: at('htpasswd') } } }),
    };
    // JSON is YAML.
    writeFileSync(at('config.yml'), JSON.stringify(config));
    const log = openSync(at('log'), 'a');
    const { SVC_TEST_DOCKER_REGISTRY: program = '' } = process.env;
    this.#process = spawn(program, ['serve', at('config.yml')], { stdio: ['ignore', log, log] });
  }

  static async start({ isPrivate = false } = {}): Promise<Registry> {
    const registry = new Registry(isPrivate);
    const log = path.join(registry.#dir, 'log');
    registry.host = await until(
      () => /listening on (127\.0\.0\.1:\d+)/.exec(readFileSync(log, 'utf8'))?.[1] ?? null,
      'the registry',
    );
    return registry;
  }

  async close(): Promise<void> {
    const gone = once(this.#process, 'exit');
    this.#process.kill();
    await gone;
    rmSync(this.#dir, { recursive: true });
  }
}

/** Before a registry: it holds back the layers of images until they are wanted. */
export class SlowRegistry {
  readonly #server: http.Server;
  #release = () => {};
  readonly #released = new Promise<void>((resolve) => (this.#release = resolve));
  /** Layers that were asked for. */
  asked = 0;

  constructor(target: string) {
    const [hostname, port] = target.split(':');
    this.#server = http.createServer((request, response) => {
      const { method, url: path, headers } = request;
      const passed = http.request({ hostname, port, method, path, headers, agent: false }, (answer) => {
        const isLayer = method === 'GET' && Number(answer.headers['content-length']) > LAYER_BYTES;
        this.asked += Number(isLayer);
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        response.flushHeaders();
        void (isLayer ? this.#released : Promise.resolve()).then(() => answer.pipe(response));
      });
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      request.pipe(passed);
    });
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  release(): void {
    this.#release();
  }

  async close(): Promise<void> {
    this.#release();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
