import type { ReactiveController, ReactiveControllerHost } from 'lit';

const TYPING_MS = 250;

export interface TypedSearchOptions {
  /** What the address says. */
  text(): string | null;
  /** The typing rests. The spaces around the text are off; null: nothing is searched for. */
  onRest(text: string | null): void;
}

/** The text of a search field of which the address has what was typed once the typing rests. The host is not rendered for each letter. */
export class TypedSearch implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #options: TypedSearchOptions;
  /** What was typed. The address gets it without the spaces around it, which stay in the field: another word may follow. */
  #typed = '';
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor(host: ReactiveControllerHost, options: TypedSearchOptions) {
    this.#host = host;
    this.#options = options;
    host.addController(this);
  }

  hostDisconnected(): void {
    clearTimeout(this.#typing);
    this.#typing = undefined;
  }

  get text(): string {
    const inAddress = this.#options.text() ?? '';
    return this.#typing !== undefined || this.#typed.trim() === inAddress ? this.#typed : inAddress;
  }

  readonly onInput = (event: Event): void => {
    this.#typed = (event.target as HTMLInputElement).value;
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => {
      this.#typing = undefined;
      this.#options.onRest(this.#typed.trim() || null);
      this.#host.requestUpdate();
    }, TYPING_MS);
  };
}
