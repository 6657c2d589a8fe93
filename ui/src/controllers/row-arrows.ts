import type { ReactiveController, ReactiveControllerHost } from 'lit';

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** The up and down arrows go from the link of a row of the host to that of the next one. Each row is an element with `a.name` in it. */
export class RowArrows implements ReactiveController {
  readonly #host: ReactiveControllerHost & HTMLElement;

  constructor(host: ReactiveControllerHost & HTMLElement) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#host.addEventListener('keydown', this.#onKey);
  }

  hostDisconnected(): void {
    this.#host.removeEventListener('keydown', this.#onKey);
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const links = this.#links;
    const at = links.findIndex((link) => link.matches(':focus'));
    if (at === -1) return;
    event.preventDefault();
    links[at + step]?.focus();
  };

  get #links(): HTMLElement[] {
    const elements = [...this.#host.shadowRoot!.querySelectorAll('*')];
    return elements.flatMap((element) => element.shadowRoot?.querySelector<HTMLElement>('a.name') ?? []);
  }
}
