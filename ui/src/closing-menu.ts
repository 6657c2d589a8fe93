import { noChange } from 'lit';
import { AsyncDirective } from 'lit/async-directive.js';
import { directive, type ElementPart } from 'lit/directive.js';

/** Closes a `details` that is a menu when something else is clicked or focused, and at Escape, which gives the focus back to its button. */
class ClosingMenu extends AsyncDirective {
  #menu: HTMLDetailsElement | null = null;

  override render(): typeof noChange {
    return noChange;
  }

  override update({ element }: ElementPart): typeof noChange {
    if (this.#menu !== null) return noChange;
    this.#menu = element as HTMLDetailsElement;
    this.#menu.addEventListener('keydown', this.#onKey);
    this.#menu.addEventListener('focusout', this.#onFocusOut);
    this.#menu.addEventListener('toggle', this.#onToggle);
    return noChange;
  }

  override disconnected(): void {
    document.removeEventListener('pointerdown', this.#onPointer);
  }

  override reconnected(): void {
    this.#onToggle();
  }

  readonly #onToggle = (): void => {
    if (this.#menu?.open) document.addEventListener('pointerdown', this.#onPointer);
    else document.removeEventListener('pointerdown', this.#onPointer);
  };

  readonly #onPointer = (event: PointerEvent): void => {
    if (!event.composedPath().includes(this.#menu!)) this.#menu!.open = false;
  };

  /** Without a target it is a click, perhaps on a label of the menu itself. */
  readonly #onFocusOut = ({ relatedTarget }: FocusEvent): void => {
    if (relatedTarget !== null && !this.#menu!.contains(relatedTarget as Node)) this.#menu!.open = false;
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !this.#menu!.open) return;
    event.preventDefault();
    event.stopPropagation();
    this.#menu!.open = false;
    this.#menu!.querySelector('summary')?.focus();
  };
}

export const closingMenu = directive(ClosingMenu);
