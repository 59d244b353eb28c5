import { inspect } from 'node:util';

const SHOWN = '[secret]';

/**
 * Bytes that refuse to be printed, can be used once and are wiped after that use. The secret owns the array it is
 * given: the caller keeps no copy.
 */
export class Secret {
  readonly #bytes: Uint8Array;
  #spent = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Lends the bytes to the function and wipes them when it has returned, thrown, or its promise has settled. */
  use<T>(fn: (bytes: Uint8Array) => T): T {
    if (this.#spent) throw new Error('a secret can be used only once');
    this.#spent = true;
    let pending = false;
    try {
      const result = fn(this.#bytes);
      if (!(result instanceof Promise)) return result;
      pending = true;
      return result.finally(() => this.wipe()) as T;
    } finally {
      if (!pending) this.wipe();
    }
  }

  wipe(): void {
    this.#spent = true;
    this.#bytes.fill(0);
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }

  [Symbol.dispose](): void {
    this.wipe();
  }
}
