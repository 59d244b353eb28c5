/** The header that authenticates a request. */
export interface Stamp {
  readonly headerName: string;
  readonly headerValue: string;
}

/** Proves who sends a body. Write your own for keys that live elsewhere, such as in a hardware module. */
export interface Stamper {
  /** Called once for a request, however often it is sent. The signal ends a question to the user. */
  stamp(body: Uint8Array<ArrayBuffer>, options?: StampOptions): Promise<Stamp>;
}

export interface StampOptions {
  readonly signal?: AbortSignal;
}
