/** Asks the reader; true: the page may be left. */
type Question = () => Promise<boolean>;

/** A page with unsaved work is not left without a question: by a link, by the back button, or with the tab. */
class LeaveGuard {
  #question: Question | null = null;

  get isOn(): boolean {
    return this.#question !== null;
  }

  /** One page at a time. */
  set(question: Question): void {
    this.#question = question;
    window.addEventListener('beforeunload', preventUnload);
  }

  clear(): void {
    this.#question = null;
    window.removeEventListener('beforeunload', preventUnload);
  }

  async mayLeave(): Promise<boolean> {
    if (this.#question !== null && !(await this.#question())) return false;
    this.clear();
    return true;
  }
}

function preventUnload(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

export const leaveGuard = new LeaveGuard();
