import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { IconName } from './icons.js';

/** Something that can be done with what the page is about. */
export interface PageAction {
  readonly icon: IconName;
  readonly label: string;
  /** Other words by which it is found. */
  readonly words?: string;
  /** As the button does it: what changes something asks first. */
  readonly choose: () => void;
}

const offers = new Set<() => readonly PageAction[]>();

/** What the page offers now, for the command palette. */
export function readPageActions(): PageAction[] {
  return [...offers].flatMap((offer) => offer());
}

/** Offers the actions of an element to the command palette while it is in the page. `offer` is asked whenever the palette opens. */
export class PageActions implements ReactiveController {
  constructor(
    host: ReactiveControllerHost,
    private readonly offer: () => readonly PageAction[],
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    offers.add(this.offer);
  }

  hostDisconnected(): void {
    offers.delete(this.offer);
  }
}
