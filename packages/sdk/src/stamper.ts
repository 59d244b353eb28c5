/** The header that authenticates a request. */
export interface Stamp {
  readonly headerName: string;
  readonly headerValue: string;
}

/** Proves who sends a body. Write your own for keys that live elsewhere, such as in a hardware module. */
export interface Stamper {
  stamp(body: Uint8Array<ArrayBuffer>): Promise<Stamp>;
}
