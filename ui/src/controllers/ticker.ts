import type { ReactiveController, ReactiveControllerHost } from 'lit';

const hosts = new Set<ReactiveControllerHost>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Renders its host once a second, in step with all others, while the page is visible. */
export class Ticker implements ReactiveController {
  #isWanted = true;

  readonly #host: ReactiveControllerHost;

  constructor(host: ReactiveControllerHost) {
    this.#host = host;
    host.addController(this);
  }

  /** A host whose time stands still need not be rendered. */
  set running(isWanted: boolean) {
    this.#isWanted = isWanted;
    if (isWanted) join(this.#host);
    else leave(this.#host);
  }

  hostConnected(): void {
    if (this.#isWanted) join(this.#host);
  }

  hostDisconnected(): void {
    leave(this.#host);
  }
}

function join(host: ReactiveControllerHost): void {
  hosts.add(host);
  timer ??= setInterval(tick, 1000);
}

function leave(host: ReactiveControllerHost): void {
  hosts.delete(host);
  if (hosts.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

function tick(): void {
  if (document.hidden) return;
  for (const host of hosts) host.requestUpdate();
}
