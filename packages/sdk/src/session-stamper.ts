import type { Stamp, Stamper } from './stamper.ts';

/** Sends the token of a read-only session; it opens queries only. */
export class SessionStamper implements Stamper {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async stamp(): Promise<Stamp> {
    return { headerName: 'X-Session', headerValue: this.#token };
  }
}
