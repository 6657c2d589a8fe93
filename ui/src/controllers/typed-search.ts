import type { ReactiveController, ReactiveControllerHost } from 'lit';

const TYPING_MS = 250;

export interface TypedSearchOptions {
  /** What the address says. */
  text(): string | null;
  /** The typing rests. */
  onRest(text: string): void;
}

/** The text of a search field of which the address has what was typed once the typing rests. The host is not rendered for each letter. */
export class TypedSearch implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #options: TypedSearchOptions;
  /** What stands in the field and not yet in the address. */
  #draft: string | null = null;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor(host: ReactiveControllerHost, options: TypedSearchOptions) {
    this.#host = host;
    this.#options = options;
    host.addController(this);
  }

  hostDisconnected(): void {
    clearTimeout(this.#typing);
  }

  get text(): string {
    return this.#draft ?? this.#options.text() ?? '';
  }

  readonly onInput = (event: Event): void => {
    const text = (event.target as HTMLInputElement).value;
    this.#draft = text;
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => {
      this.#draft = null;
      this.#options.onRest(text);
      this.#host.requestUpdate();
    }, TYPING_MS);
  };
}
