import type { LitElement, ReactiveController } from 'lit';

/** The width of its host in px, which a drawing needs before it can be made; 0 until it is known. */
export class Width implements ReactiveController {
  px = 0;
  readonly #host: LitElement;
  readonly #sizes = new ResizeObserver(() => this.#measure());

  constructor(host: LitElement) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#sizes.observe(this.#host);
  }

  hostDisconnected(): void {
    this.#sizes.disconnect();
  }

  #measure(): void {
    const px = this.#host.clientWidth;
    if (px === this.px) return;
    this.px = px;
    this.#host.requestUpdate();
  }
}
