import type { Notice } from './channel.ts';

/** Asks the process that started this one to make a change of the ring durable: this one may not open the folder. */
export class AskedSync {
  readonly #send: (notice: Notice) => void;
  #last: Promise<void> = Promise.resolve();
  /** Not asked for yet, so that it is good for everybody who asks meanwhile. */
  #next: Promise<void> | undefined;
  #heard: () => void = () => {};

  constructor(send: (notice: Notice) => void) {
    this.#send = send;
  }

  /** One at a time: one that is under way may have begun before the change, so it is good for nobody who comes later. */
  sync(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return new Promise<void>((resolve) => {
        this.#heard = resolve;
        this.#send({ type: 'changed' });
      });
    });
    this.#last = this.#next;
    return this.#next;
  }

  hear(): void {
    this.#heard();
  }
}
